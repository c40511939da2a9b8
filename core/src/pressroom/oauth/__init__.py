"""The OAuth 2.1 authorization server: clients, approvals, codes and tokens, independent of HTTP."""
