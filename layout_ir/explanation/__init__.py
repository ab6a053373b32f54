"""Names in the other direction: what a layout does, in words, and which names of all systems say the same."""
