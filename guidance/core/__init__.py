"""Every gate and the facts it reads: pure functions, no clock, no I/O, no logging."""
