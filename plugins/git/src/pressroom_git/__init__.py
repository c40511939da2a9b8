"""Publishing to sites in git repositories: Markdown with front matter for Hugo, Jekyll and Astro."""
