"""What is halted: the banner on every page, the list, and how one begins and ends."""
