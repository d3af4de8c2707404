"""Tests of calibration, and the outcomes that they draw under the null hypothesis."""
