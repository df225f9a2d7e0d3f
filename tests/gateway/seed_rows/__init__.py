"""Scenario rows about the ledger (LG) and budgets (BU), through the real API.

Other rows stand where their subject is tested: LG-04 by time and LG-05 to LG-09 and LG-19 in
`tests/reviews/statistics/test_rules.py`, LG-11 to LG-18 and LG-21 in
`tests/guidance/core/outcomes/test_evaluators.py`, BU-08 in
`tests/guidance/core/steps/test_budget.py`, MG in `tests/guidance/core/policy/test_merging.py`.
Rows that this product answers differently:

| row | here |
|---|---|
| LG-13 | tests that did not run fail the run only where its agent says so; silence is unknown |
| BU-07 | a call has no price of its own: cost is tokens by the policy's `prices` |
| TR-01 to TR-05 | agents have no score of trust and no tiers: limits and policies are set by people |
"""
