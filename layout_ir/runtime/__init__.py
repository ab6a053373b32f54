"""From C text to functions that are called on numpy arrays: compiler, cache, kernels."""
