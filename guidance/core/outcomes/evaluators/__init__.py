"""The five evaluators, in the order in which people read them."""
