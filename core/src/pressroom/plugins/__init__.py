"""Loading of plugins, from installed distributions to registered records, isolating broken ones."""
