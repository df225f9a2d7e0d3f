"""What talks to the server under measurement: agents, reviewers, webhook receivers."""
