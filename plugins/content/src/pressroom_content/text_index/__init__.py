"""Articles as texts: found by their words, compared with each other, and listed for programs that read."""
