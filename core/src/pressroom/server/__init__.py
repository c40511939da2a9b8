"""The Sanic server: routes, health checks, files, and the life cycle of the process."""
