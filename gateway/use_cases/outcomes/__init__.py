"""How runs are judged: rules broken on the way, and all of it at the end."""
