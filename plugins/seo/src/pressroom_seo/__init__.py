"""SEO checks for articles and whole sites."""
