"""Code shared by all plots: style, figures, columns and series."""
