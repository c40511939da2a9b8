"""Site checks and the health score of a site."""
