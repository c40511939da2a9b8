"""What comes in from outside: JSON bodies, parameters, client addresses."""
