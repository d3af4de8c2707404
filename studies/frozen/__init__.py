"""Every result of the library on fixed inputs, to the bit, and what differs between two runs."""
