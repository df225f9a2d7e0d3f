"""What people are told of while the console is open and out of sight."""
