"""The tool gateway: what a call is, and what every gate says about it before it runs."""
