"""The tab Start: what is still to do before agents are at work, ticked from facts."""
