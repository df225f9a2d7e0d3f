"""The continue gate: a step is measured, judged by every part, and answered."""
