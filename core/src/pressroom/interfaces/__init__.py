"""The interfaces: each returns its endpoints, and none imports another."""
