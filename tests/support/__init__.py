"""What several test modules need: services, ports, browsers."""
