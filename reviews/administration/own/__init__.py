"""What belongs to one person in all their projects: tokens, sign-ins, the password."""
