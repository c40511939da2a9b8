"""The built-in site: a platform on this server itself, which shows its posts at `/sites/<site>/<slug>`."""
