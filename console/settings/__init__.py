"""Settings of a project, one tab each: agents and keys, people, the project, what changed."""
