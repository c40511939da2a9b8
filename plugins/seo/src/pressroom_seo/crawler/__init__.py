"""A crawler for sites whose owners request it: polite, bounded and resumable after a restart."""
