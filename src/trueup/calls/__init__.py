"""Features that public functions share: progress, and hints for calls with wrong arguments."""
