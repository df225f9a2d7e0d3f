"""A past for the demo: weeks of work, judged and ruled on by the code that judges today."""
