"""Allowances: what a person lets a run do beforehand, so that it need not ask again."""
