"""Values for the limits of a policy that fit what people ruled.

Pure: what steps measured and what people chose goes in, counts for every value a limit
might have come out, and the value that would have served people best.
"""
