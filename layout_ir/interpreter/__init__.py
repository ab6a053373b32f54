"""What modules mean, in numpy and by interpretation: the reference that kernels are checked against."""
