"""Several reviews that a person has selected: what one decision would do, and what it did."""
