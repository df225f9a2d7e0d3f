"""Rules about one machine: its disks, its system, Windows."""
