"""Counting requests in moving windows."""

from pressroom.limits.factory import create_limiter

__all__ = ["create_limiter"]
