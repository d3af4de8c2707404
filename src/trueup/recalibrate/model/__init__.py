"""A classifier with its recalibrator, and scorers, for scikit-learn."""
