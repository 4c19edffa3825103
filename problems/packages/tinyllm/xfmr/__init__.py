"""The parts of a Transformer, built chapter by chapter."""
