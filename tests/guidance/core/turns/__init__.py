"""How turns are judged, without a run, a clock or a database.

Tests name the scenario rows they hold: AC (auto-continue) and AL (agent loop). Rows of
the client's own loop that have another counterpart here, or none:

| row | here |
|---|---|
| AL-04 | the client's retry of an empty answer is a continuation, at most three in a row |
| AL-05 | a filtered answer is warned of; refusing it in the protocol is the client's |
| AL-07 | a turn brings the number of open todos, not the list: the number stands for it |
| AL-08 to AL-14 | what is found feeds the continue gate; the reminder is its pause |
| AL-15 | no limit for one failing tool: failed calls count in the step's uncertainty |
| AC-06 | scores 45, and finishes because it says that it is done |
"""
