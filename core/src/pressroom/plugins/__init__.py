"""From an installed distribution to registered records; a broken plugin ends here."""
