"""What the figures tell."""
