"""The migrations of the content plugin."""
