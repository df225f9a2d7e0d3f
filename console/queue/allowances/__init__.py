"""Allowances in the queue: what is offered with an approval, and what was given."""
