"""Pages for people with an account: sign-in, overview, connections, account."""
