"""What comes in from outside: JSON bodies, parameters, the IP addresses of clients."""
