"""Recalibrators with finitely many outputs."""
