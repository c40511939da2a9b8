"""Connected websites: their credentials, health and content."""
