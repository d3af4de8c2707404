"""What all plots share: style, figures, columns and series."""
