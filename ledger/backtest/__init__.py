"""Stored history judged again under a policy that may never have been in force.

Each decision is judged on the facts as they were stored: what the run had used, which
steps came before, what people had ruled. What would have become of the run after a decision
that comes out otherwise is not imagined: the next decision is judged on what really
happened. So a limit that several steps in a row would have passed is counted at each.

Where a stored fact cannot say, the decision is counted as unknown, never guessed.
"""
