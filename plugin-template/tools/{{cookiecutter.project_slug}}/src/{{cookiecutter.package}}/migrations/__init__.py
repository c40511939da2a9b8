"""The migrations, with one file for each revision. A released revision never changes; the next revision names it."""
