"""What public functions have in common: progress, and hints where a call goes wrong."""
