"""A crawler for sites whose owners ask for it: polite, bounded, and able to go on after a restart."""
