"""Fetches untrusted URLs, and nothing that is not meant for the public.

A client's metadata document and an image in somebody's template lie where their authors say. A server that fetches
such a URL without care can be made to read its own network (server-side request forgery). `GuardedFetcher` is the
one way out to a URL that the operator did not write.
"""

from pressroom.fetch.fetcher import GuardedFetcher
from pressroom.fetch.target import Resolver, Target, is_public, parse_target
from pressroom.sdk import Fetched, FetchResponse

__all__ = ["FetchResponse", "Fetched", "GuardedFetcher", "Resolver", "Target", "is_public", "parse_target"]
