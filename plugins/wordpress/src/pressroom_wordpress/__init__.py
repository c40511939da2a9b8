"""WordPress as a platform to publish on: its REST API with application passwords (WordPress 5.6 and newer)."""
