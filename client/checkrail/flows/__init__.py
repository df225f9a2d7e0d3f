"""What an agent does, as generators without I/O: see `checkrail.transport.effects`."""
