"""What goes to the provider with the browser, and what is known of a person that comes back."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """A sign-in that is under way. All but `url` has to be kept, out of others' sight, until the browser returns."""

    url: str = field(repr=False)
    redirect_uri: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class IdentityClaims:
    """A person, as the provider vouches for it. `issuer` and `subject` together never change; the rest may."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
