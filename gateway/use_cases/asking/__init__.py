"""What an agent asks of people by itself: an answer, an approval, a plan."""
