"""Sign-in with an OpenID Connect provider; this server is the relying party."""

from pressroom.accounts.identity_provider.linking import AccountLinking
from pressroom.accounts.identity_provider.provider import IdentityClaims, IdentityProvider, SignInRequest

__all__ = ["AccountLinking", "IdentityClaims", "IdentityProvider", "SignInRequest"]
