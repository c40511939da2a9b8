"""Links people at the identity provider to accounts."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog

from pressroom.accounts.identity_provider.provider import IdentityClaims
from pressroom.accounts.records import User
from pressroom.accounts.users import Users, normalised_email
from pressroom.config.account_models import IdentityProviderSettings
from pressroom.errors import InvalidInput, SignInFailed
from pressroom.validation.echo import is_line

log = structlog.get_logger()

_MAX_NAME_LENGTH = 100


class AccountLinking:
    """Find the account of a person, link an existing one, or create one.

    Only issuer and subject identify a person. An e-mail address leads to an account only if that cannot be used to take
    it over: the provider has verified the e-mail address, and the account has neither a password nor a link to another
    person at the provider. Creating an account in advance with someone else's e-mail address gains nothing, and neither
    does receiving an e-mail address that was reassigned.
    """

    def __init__(self, users: Users, settings: IdentityProviderSettings) -> None:
        self._users = users
        self._create_accounts = settings.create_accounts
        self._domains = frozenset(domain.lower().removeprefix("@") for domain in settings.allowed_domains)

    async def sign_in(self, claims: IdentityClaims) -> User:
        """Return the account that a person signs in to, and record the time of the sign-in.

        Raises:
            SignInFailed: The person has no account that they can use; the message is for them.
        """
        email = _verified_email(claims)
        self._check_domain(email)
        user = await self._users.by_identity(claims.issuer, claims.subject) or await self._new(claims, email)
        _check_enabled(user)
        await self._users.signed_in(user.id, datetime.now(UTC))
        return user

    async def connect(self, user: User, claims: IdentityClaims) -> None:
        """Let a person use the provider to sign in to the account that they are currently signed in to.

        Raises:
            SignInFailed: They already sign in to another account, or their e-mail address is not allowed here.
        """
        self._check_domain(_verified_email(claims))
        try:
            await self._users.link_identity(user.id, claims.issuer, claims.subject)
        except InvalidInput as error:
            raise SignInFailed(error.problem) from None
        log.info("an account was connected to a person at the identity provider", user=user.id)

    def _check_domain(self, email: str) -> None:
        if not self._domains:
            return
        if not email:
            raise SignInFailed("confirm your e-mail address with your provider before you sign in here")
        if email.rpartition("@")[2] not in self._domains:
            raise SignInFailed(f"e-mail addresses like {email} may not sign in here; use another account")

    async def _new(self, claims: IdentityClaims, email: str) -> User:
        if not email:
            raise SignInFailed("confirm your e-mail address with your provider before you sign in here")
        user = await self._users.by_email(email)
        if user is not None:
            return await self._link(user, claims)
        if not self._create_accounts:
            raise SignInFailed(f"there is no account for {email}; ask the operator of this server for one")
        try:
            return await self._users.add_with_identity(
                email, name=_display_name(claims.name), issuer=claims.issuer, subject=claims.subject
            )
        except InvalidInput as error:
            # The same person may have signed in twice concurrently.
            existing = await self._users.by_identity(claims.issuer, claims.subject)
            if existing is None:
                raise SignInFailed(error.problem) from None
            return existing

    async def _link(self, user: User, claims: IdentityClaims) -> User:
        _check_enabled(user)
        if not user.has_password and await self._users.link_first_identity(user.id, claims.issuer, claims.subject):
            log.info("an account was linked to a person at the identity provider", user=user.id)
            return user
        existing = await self._users.by_identity(claims.issuer, claims.subject)
        if existing is not None:
            return existing
        if user.has_password:
            raise SignInFailed(
                f"the account {user.email} signs in with a password; use it, then connect the two on the account page"
            )
        raise SignInFailed(f"the account {user.email} belongs to somebody else; ask the operator of this server")


def _check_enabled(user: User) -> None:
    if user.disabled:
        raise SignInFailed("this account is disabled; ask the operator of this server")


def _verified_email(claims: IdentityClaims) -> str:
    """Return the normalised e-mail address if the provider has verified it, else an empty string."""
    try:
        return normalised_email(claims.email) if claims.email_verified else ""
    except InvalidInput:
        return ""


def _display_name(name: str) -> str:
    trimmed = name.strip()
    return trimmed[:_MAX_NAME_LENGTH].strip() if is_line(trimmed) else ""
