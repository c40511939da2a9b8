"""The HTTP face of generators."""
