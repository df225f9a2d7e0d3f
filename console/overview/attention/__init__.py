"""What agents cost people: how often they ask, what needed no person, who disagreed."""
