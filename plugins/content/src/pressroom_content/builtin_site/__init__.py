"""The built-in site: a platform hosted by this server, which serves its posts at `/sites/<site>/<slug>`."""
