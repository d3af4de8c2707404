"""One test for errors of any kind: six statistics of a few cells, combined exactly."""
