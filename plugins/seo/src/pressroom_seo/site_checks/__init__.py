"""What can be wrong with a site, and how that is found, counted and weighed."""
