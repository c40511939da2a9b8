"""The migrations of the search performance plugin."""
