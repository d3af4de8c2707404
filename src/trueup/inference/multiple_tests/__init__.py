"""Tests of many groups, classes and bins, with adjusted p-values."""
