"""Quality gates: definitions, verdicts, attempts and prompts, without a database.

Tests name the scenario rows they hold: VR (verdicts and retries) and GS (gate sets).
Rows that this product answers differently, or has nothing to answer with:

| row | here |
|---|---|
| VR-08 undefined | a body without a text is refused by the API |
| VR-30 | a mode is never unset: the severity gives one; an unknown one counts as blocking |
| VR-35 loader failure | definitions are part of the policy: there is nothing to load |
| VR-36, VR-37 | no client hook judges verdicts: every one reaches the server and counts |
| VR-38 | one message brings one verdict; within it the first line wins |
| GS-01 | there are two sources, and the policy's definition of an id is the only one |
| GS-03 | a blank id is refused, not passed over: a typing error would drop a gate |
| GS-04 to GS-06, GS-09, GS-10 | nothing removes a gate from a check: no vetoes, no modifiers |
| GS-07, GS-08, GS-13 | there are no frameworks and no prompt categories |
| GS-11 | a gate that is not there is refused: dropping it would loosen the check |
"""
