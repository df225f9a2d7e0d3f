"""Programs that run other programs: what is inside is judged as if it stood alone."""
