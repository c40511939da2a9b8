"""Ideas for articles."""
