"""Tests for rows in clusters, whose residuals depend on each other."""
