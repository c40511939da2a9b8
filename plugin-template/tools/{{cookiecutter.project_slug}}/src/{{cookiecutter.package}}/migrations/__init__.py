"""The migrations, a file for each revision. A released revision never changes; the next one names it."""
