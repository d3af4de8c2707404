"""Tests of rows in clusters, which share what the predictions do not tell."""
