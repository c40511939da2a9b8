"""A crawler for sites whose owners ask for it: polite, bounded, and able to resume after a restart."""
