"""The index of cached results."""

from pressroom.storage.cache.factory import create_cache_index

__all__ = ["create_cache_index"]
