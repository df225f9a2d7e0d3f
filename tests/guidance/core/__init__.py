"""The gates, judged as plain functions: no test in here touches the database.

Tests name the scenario rows they hold: CG (continue gate), CO (coherence), UN
(uncertainty), EG-42 and BU-08. Rows that this product answers differently:

| row | here |
|---|---|
| CG-08 | a checkpoint is due every 25 steps, the stop comes 100 steps after the last |
| CG-30 to CG-34 | statistics come from the ledger, so nothing is kept, capped or reset |
| CG-35, CG-36 | there is no cooldown: every step is judged in full |
| CG-46, CG-49 | latching and repeated reports belong to the run, not to the gate |
| CO-06 | no steps seen is unknown, not a perfect score |
| CO-08 to CO-14 | no score history and no privilege tiers: the gate's limits decide |
| UN-01 to UN-12, UN-15, UN-16 | no stored beliefs with evidence, decay or parents |
| UN-14 | no confidences is unknown, not zero (UN-17) |
"""
