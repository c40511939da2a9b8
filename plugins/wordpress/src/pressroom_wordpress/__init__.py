"""WordPress as a platform to publish to: its REST API with application passwords (WordPress 5.6 and newer)."""
