"""Tools of contributors, which the library does not need."""
