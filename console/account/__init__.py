"""Pages about an account itself, outside of any project: joining, and the password."""
