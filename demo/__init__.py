"""The demo: a project of its own, and agents that work in it over real HTTP."""
