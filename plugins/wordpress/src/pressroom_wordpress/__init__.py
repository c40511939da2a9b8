"""WordPress as a publishing platform: its REST API with application passwords (WordPress 5.6 and later)."""
