"""What is too long for every change: once a night, by one verb."""
