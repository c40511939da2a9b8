"""Plan, usage and activity of an account."""
