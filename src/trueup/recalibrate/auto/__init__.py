"""The choice of a recalibrator by cross-validated proper scores."""
