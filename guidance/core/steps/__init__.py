"""The continue gate: a step is measured, judged by every gate, and answered."""
