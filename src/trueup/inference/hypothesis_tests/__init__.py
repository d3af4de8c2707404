"""Tests of calibration and the outcomes they draw under the null hypothesis."""
