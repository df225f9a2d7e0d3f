"""What a run may use together with others, and where it stands among them."""
