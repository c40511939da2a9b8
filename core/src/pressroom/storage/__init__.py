"""Files and the index of cached results."""
