"""Fetch untrusted URLs, but only from public servers.

A client's metadata document and an image in a user's template are wherever their authors put them. A server that
fetches such URLs carelessly can be made to read its own network (server-side request forgery). Use `GuardedFetcher` for
every URL that the operator did not configure.
"""

from pressroom.fetch.fetcher import GuardedFetcher
from pressroom.fetch.target import Resolver, Target, is_public, parse_target
from pressroom.sdk import Fetched, FetchResponse

__all__ = ["FetchResponse", "Fetched", "GuardedFetcher", "Resolver", "Target", "is_public", "parse_target"]
