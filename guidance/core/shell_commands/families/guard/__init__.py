"""What an agent could do to the guard itself: answer it, loosen it, stop it, read it."""
