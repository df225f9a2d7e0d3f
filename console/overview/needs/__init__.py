"""What needs a person now, read from the state of this moment, the worst first."""
