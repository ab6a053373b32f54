"""What memory is read and written in."""

LINE_BYTES = 64
"""Size of a cache line."""
