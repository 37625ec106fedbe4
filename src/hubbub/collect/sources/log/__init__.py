"""A log that grows and is rotated: its files, their names, and where in them one is."""
