"""Recalibrators made of recalibrators: per class, per group, for the top label."""
