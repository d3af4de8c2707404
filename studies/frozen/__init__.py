"""Every result of the library on fixed inputs, bit for bit, and what differs between two runs."""
