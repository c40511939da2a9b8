"""The migrations of the SEO plugin."""
