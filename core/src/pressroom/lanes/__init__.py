"""Where tools run: the event loop, threads and worker processes."""
