"""The migrations of the images plugin."""
