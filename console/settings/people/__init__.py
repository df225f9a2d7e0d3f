"""The tab People: who is in the project, with which role, and who was invited."""
