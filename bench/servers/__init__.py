"""A Checkrail server for a measurement, with a database that is filled before."""
