"""From fragments to pixels."""
