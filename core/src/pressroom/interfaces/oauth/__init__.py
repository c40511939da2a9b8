"""The HTTP interface of the authorization server: discovery, registration, consent, tokens, revocation."""
