"""The omnibus test for many kinds of errors: six statistics of a few cells, combined exactly."""
