"""Writers of model files for tests. They share no code with the parsers of modelcheck."""
