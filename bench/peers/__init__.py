"""What our figures stand beside: bare databases, and other programs that wait for people."""
