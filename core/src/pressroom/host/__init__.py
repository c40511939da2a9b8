"""A host: plugins loaded, catalog compiled, backends open, and what lives as long as it does."""
