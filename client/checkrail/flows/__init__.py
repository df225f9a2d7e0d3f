"""What an agent does, step by step, without any I/O: see `checkrail.wire`."""
