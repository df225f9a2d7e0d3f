"""Turns: whether an agent that stopped is done, stopped half-way, or waits for a person.

`judge_turn` in `scoring` answers for one turn; `counting` holds what a run remembers
from turn to turn. The text is read in three layers: `masking` hides what is no prose,
`prose` cuts the rest into sentences and words, `phrases` and `questions` look at those.
"""
