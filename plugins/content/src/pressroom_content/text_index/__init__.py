"""The text index: searching articles, comparing texts, and plain-text versions for programs."""
