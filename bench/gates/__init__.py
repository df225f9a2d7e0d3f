"""How well and how fast the gates judge commands and whole calls."""
