"""Signing in at an OpenID Connect provider: this server is its relying party."""

from pressroom.accounts.identity_provider.linking import Linking
from pressroom.accounts.identity_provider.provider import IdentityProvider
from pressroom.accounts.identity_provider.records import IdentityClaims, SignInRequest

__all__ = ["IdentityClaims", "IdentityProvider", "Linking", "SignInRequest"]
