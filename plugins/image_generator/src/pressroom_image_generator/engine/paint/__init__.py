"""Painting: from fragments to pixels."""
