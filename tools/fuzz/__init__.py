"""Fuzzing: damaged files must end in one clear sentence. Run it with `python -m tools.fuzz`."""
