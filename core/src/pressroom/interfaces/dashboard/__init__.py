"""The pages for people with an account: signing in, overview, connections, account."""
