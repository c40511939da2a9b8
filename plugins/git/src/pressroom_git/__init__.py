"""Sites in git repositories as a platform to publish on: markdown with front matter for Hugo, Jekyll and Astro."""
