"""The stages that every call passes through."""
