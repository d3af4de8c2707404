"""The sentences of an evaluation, and the evidence that they state."""
