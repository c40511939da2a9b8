"""The Sanic host: routes, health, files, and the life of the process."""
