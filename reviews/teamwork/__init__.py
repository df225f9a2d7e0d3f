"""How several people share the reviews of a project: who has which, and for how long."""
