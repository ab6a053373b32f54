"""Attributes of loads and stores of vectors that lie at multiples of their size."""

ALIGNED = "aligned"
"""Behind the beginning of their buffer, as devices want it."""

AT_LINE = "at_line"
"""In memory: a store past the caches that needs not look where it goes, as the kernel has looked once for all."""
