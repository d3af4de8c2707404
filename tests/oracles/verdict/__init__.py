"""Fast plain formulas for the numbers in sentences of the verdict, of NumPy and SciPy alone."""
