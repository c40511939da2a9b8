"""The HTTP face of the authorization server: discovery, registration, consent, tokens, revocation."""
