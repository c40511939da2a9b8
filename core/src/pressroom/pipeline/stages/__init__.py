"""The stages of a call, one module each."""
