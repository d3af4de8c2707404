"""Charts with one row per class, group or model."""
