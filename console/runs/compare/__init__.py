"""Two runs side by side, or a run and what is usual for its agent."""
