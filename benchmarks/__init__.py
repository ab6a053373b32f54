"""Benchmarks: kernels side by side with memcpy, oneDNN, PyTorch and numpy. Run `python -m benchmarks --help`."""
