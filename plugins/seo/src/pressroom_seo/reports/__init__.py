"""Reports of whole sites: crawls that survive a restart, what they found, and what people said of it."""
