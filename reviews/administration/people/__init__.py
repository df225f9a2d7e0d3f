"""People of a project: who they are, what they may do, how they come and go."""
