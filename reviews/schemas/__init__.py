"""What people's programs send and get, and the fields that all bodies share."""
