"""How people share reviews, on the page of the queue."""
