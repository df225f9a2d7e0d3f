"""The command palette: open reviews, runs, agents and pages by a few typed letters."""
