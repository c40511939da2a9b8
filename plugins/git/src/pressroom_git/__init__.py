"""Sites in git repositories as a platform to publish to: markdown with front matter for Hugo, Jekyll and Astro."""
