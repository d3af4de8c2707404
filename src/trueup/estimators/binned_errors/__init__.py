"""Errors over bins, and the correction of their bias."""
