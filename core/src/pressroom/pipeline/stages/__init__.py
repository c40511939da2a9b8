"""The stages of one call, a module each."""
