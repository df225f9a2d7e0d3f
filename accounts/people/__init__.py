"""People: how they join a project, where they are signed in, and what is mailed to them."""
