"""Users, credentials, connections and usage, independent of HTTP."""
