"""What a person has chosen for themselves: their keys, and what a ruling is followed by."""
