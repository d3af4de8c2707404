"""Many questions at once: groups, classes and bins, with adjusted p-values."""
