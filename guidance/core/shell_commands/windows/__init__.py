"""Reading what Windows shells are given."""
