"""The attribute of a load or a store of a vector that lies at a multiple of its size, as devices want it."""

ALIGNED = "aligned"
