"""User accounts, and normalisation of their e-mail addresses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from sqlalchemy import Select, delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.accounts.credential_cache import CredentialCache
from pressroom.accounts.passwords import PasswordHashes, acceptable_password
from pressroom.accounts.records import User
from pressroom.columns import as_id, hash_of, new_id
from pressroom.config.models import Settings
from pressroom.errors import BackendError, InvalidInput, NotFound, Overloaded, SignInFailed
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import IdentityRow, SessionRow, UserRow
from pressroom.validation.echo import is_line, nearest, quoted

log = structlog.get_logger()

MAX_EMAIL_LENGTH: Final = 254
_MAX_LOCAL_LENGTH: Final = 64

# An unquoted local part (RFC 5322, dot-atom) and a domain name; both may contain non-ASCII characters (RFC 6531).
_ATOM: Final = r"[a-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_ALNUM: Final = r"[a-z0-9\u0080-\U0010ffff]"
_LABEL: Final = rf"{_ALNUM}(?:(?:{_ALNUM}|-){{0,61}}{_ALNUM})?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")

_MAX_NAME_LENGTH = 100
_MAX_ISSUER_LENGTH = 500
_MAX_SUBJECT_LENGTH = 255


def normalised_email(text: str) -> str:
    """Return an e-mail address in its canonical form: trimmed, NFC, lower case. Raises `InvalidInput`."""
    if len(text) > 2 * MAX_EMAIL_LENGTH:
        raise InvalidInput("email", f"must have at most {MAX_EMAIL_LENGTH} characters")
    email = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).lower())
    local, _, domain = email.rpartition("@")
    if not email.isprintable() or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise InvalidInput("email", "must be an e-mail address, such as ada@example.com")
    if len(email.encode()) > MAX_EMAIL_LENGTH or len(local.encode()) > _MAX_LOCAL_LENGTH:
        raise InvalidInput(
            "email", f"must have at most {MAX_EMAIL_LENGTH} characters, {_MAX_LOCAL_LENGTH} before the @"
        )
    return email


def comparable_email(text: str) -> str:
    """Return an e-mail address in its canonical form. An invalid one, which no account has, is put in lower case."""
    try:
        return normalised_email(text)
    except InvalidInput:
        return text.strip().lower()


__all__ = ["Users", "comparable_email", "normalised_email", "user_of"]


class Users:
    """Creates, finds and changes accounts. Raises `NotFound` for unknown IDs and `InvalidInput` for invalid values.

    Changing an account invalidates its entries in the `credentials` cache.
    """

    def __init__(self, database: SqlDatabase, settings: Settings, credentials: CredentialCache | None = None) -> None:
        self._database = database
        self._credentials = credentials
        self._plans = frozenset({settings.accounts.default_plan, *settings.plans})
        self._default_plan = settings.accounts.default_plan
        self._brand = settings.branding.name
        self._hashes = PasswordHashes()

    async def add(self, email: str, *, name: str = "", plan: str = "", password: str | None = None) -> User:
        """Create an account; an empty `plan` selects the default one.

        Raises `InvalidInput`, also if the e-mail address is taken.
        """
        row = await self.prepare(email, name=name, plan=plan, password=password)
        if await self.by_email(row.email) is not None:
            raise _email_taken(row.email)
        try:
            async with self._database.writing() as session:
                session.add(row)
        except IntegrityError:
            raise _email_taken(row.email) from None
        return user_of(row)

    async def prepare(self, email: str, *, name: str = "", plan: str = "", password: str | None = None) -> UserRow:
        """Validate the values of a new account and return its row, not yet stored. Raises `InvalidInput`."""
        canonical_email, checked_name = normalised_email(email), _checked_name(name)
        checked_plan = self.checked_plan(plan or self._default_plan)
        encoded = "" if password is None else await self._hash(password, canonical_email, checked_name)
        return UserRow(
            id=new_id("u"),
            email=canonical_email,
            name=checked_name,
            plan=checked_plan,
            password_hash=encoded,
            disabled=False,
            created_at=datetime.now(UTC),
        )

    async def get(self, user_id: str) -> User:
        """Return an account. Raises `NotFound`."""
        row = await self._first(select(UserRow).where(UserRow.id == as_id(user_id)))
        if row is None:
            raise _unknown()
        return user_of(row)

    async def by_email(self, email: str) -> User | None:
        """Return the account with that e-mail address, or `None`."""
        row = await self._row_by_email(email)
        return None if row is None else user_of(row)

    async def by_identity(self, issuer: str, subject: str) -> User | None:
        """Return the account linked to a person at an identity provider, or `None`."""
        if not (issuer + subject).isprintable():
            return None
        row = await self._first(
            select(UserRow)
            .join(IdentityRow, IdentityRow.user_id == UserRow.id)
            .where(IdentityRow.issuer == issuer, IdentityRow.subject == subject)
        )
        return None if row is None else user_of(row)

    async def link_first_identity(self, user_id: str, issuer: str, subject: str) -> bool:
        """Link a person at an identity provider to an account that nobody else can sign in to.

        Returns:
            Whether the account was linked. It is not if it has a password or is already linked to a person at a
            provider.
        """
        identity = identity_row(user_id, issuer, subject)
        existing_identity = select(IdentityRow.subject).where(IdentityRow.user_id == user_id).limit(1)
        try:
            async with self._database.writing() as session:
                # The lock serialises this check on PostgreSQL; SQLite has only one writer anyway.
                row = await session.scalar(select(UserRow).where(UserRow.id == user_id).with_for_update())
                if row is None or row.password_hash or await session.scalar(existing_identity) is not None:
                    return False
                session.add(identity)
        except IntegrityError:
            return False
        return True

    async def link_identity(self, user_id: str, issuer: str, subject: str) -> None:
        """Link a person at an identity provider to an account. Idempotent.

        Raises:
            NotFound: The account does not exist.
            InvalidInput: The person already signs in to another account.
        """
        identity = identity_row(user_id, issuer, subject)
        try:
            async with self._database.writing() as session:
                session.add(identity)
        except IntegrityError:
            await self.get(user_id)
            owner = await self.by_identity(issuer, subject)
            if owner is None or owner.id != user_id:
                raise _signs_in_elsewhere() from None

    async def identities_within(self, session: AsyncSession, user_id: str) -> Sequence[datetime]:
        """Return when people at an identity provider were linked to an account, oldest first, using an open session."""
        statement = select(IdentityRow.created_at).where(IdentityRow.user_id == user_id)
        return (await session.scalars(statement.order_by(IdentityRow.created_at))).all()

    async def unlink_identities(self, user_id: str) -> None:
        """Remove all links to people at an identity provider. The account needs another way to sign in."""
        async with self._database.writing() as session:
            await session.execute(delete(IdentityRow).where(IdentityRow.user_id == user_id))

    async def add_with_identity(self, email: str, *, name: str, issuer: str, subject: str) -> User:
        """Create an account without a password and link it to a person at an identity provider, in one transaction.

        Raises:
            InvalidInput: The e-mail address is taken, or the person already signs in to another account.
        """
        row = await self.prepare(email, name=name)
        identity = identity_row(row.id, issuer, subject)
        try:
            async with self._database.writing() as session:
                session.add(row)
                await session.flush()
                session.add(identity)
        except IntegrityError:
            if await self.by_identity(issuer, subject) is not None:
                raise _signs_in_elsewhere() from None
            raise _email_taken(row.email) from None
        return user_of(row)

    async def any(self) -> bool:
        """Return whether any account exists."""
        return await self._first(select(UserRow)) is not None

    async def alone_within(self, session: AsyncSession, user_id: str) -> bool:
        """Return whether an account is the only one on the server, using an open session."""
        return await session.scalar(select(UserRow.id).where(UserRow.id != user_id).limit(1)) is None

    async def list(self, *, limit: int = 100, after: str = "", find: str = "") -> Sequence[User]:
        """Return accounts ordered by e-mail address, starting after the e-mail address `after`.

        `find` restricts the list to accounts whose e-mail address or name contains it, ignoring case.

        Raises:
            InvalidInput: `after` or `find` contains control characters.
        """
        for name, text in (("after", after), ("find", find)):
            if not is_line(text):
                raise InvalidInput(name, "must not contain control characters")
        statement = select(UserRow).where(UserRow.email > after).order_by(UserRow.email).limit(limit)
        if find:
            columns = (UserRow.email, UserRow.name)
            statement = statement.where(or_(*(column.icontains(find, autoescape=True) for column in columns)))
        async with self._database.reading() as session:
            return [user_of(row) for row in await session.scalars(statement)]

    async def set_plan(self, user_id: str, plan: str) -> User:
        """Change an account's plan. Other processes apply it within the lifetime of the credential cache."""
        return await self._change(user_id, plan=self.checked_plan(plan))

    async def set_disabled(self, user_id: str, disabled: bool) -> User:
        """Disable or enable an account. Disabling ends its sessions and invalidates its credentials."""
        return await self._change(user_id, ends_sessions=disabled, disabled=disabled)

    async def set_name(self, user_id: str, name: str) -> User:
        """Change the display name (at most 100 characters)."""
        return await self._change(user_id, name=_checked_name(name))

    async def set_password(self, user_id: str, password: str, *, proven: User | None = None) -> User:
        """Set a password and end all sessions of the account, including sign-ins in progress with the old password.

        `proven` is the account as read when the person proved that they may change the password. Hashing takes long
        enough for another change to be made meanwhile, which ends that permission.

        Raises:
            InvalidInput: The password is unacceptable; the message states the rule.
            SignInFailed: The password was changed in the meantime.
        """
        user = await self.get(user_id)
        encoded = await self._hash(password, user.email, user.name)
        return await self._change(user_id, ends_sessions=True, proven=proven, password_hash=encoded)

    async def clear_password(self, user_id: str) -> User:
        """Remove an account's password; its user has to sign in through the identity provider."""
        return await self._change(user_id, ends_sessions=True, password_hash="")

    async def verify_password(self, email: str, password: str) -> User | None:
        """Return the account, or `None` if the password is wrong, none was set or the account is disabled.

        An unknown e-mail address takes just as long. Raises `Overloaded` while too many people sign in.
        """
        row = await self._row_by_email(email)
        encoded = row.password_hash if row is not None and not row.disabled else ""
        right = await self._hashes.matches(encoded, password)
        if row is None or not right:
            return None
        if self._hashes.outdated(encoded):
            row.password_hash = await self._rehash(row.id, encoded, password)
        return user_of(row)

    async def signed_in(self, user_id: str, at: datetime) -> None:
        """Record the time of the last sign-in."""
        await self._change(user_id, last_sign_in_at=at)

    def checked_plan(self, plan: str) -> str:
        """Return the plan name if it is configured. Raises `InvalidInput` if it is not."""
        if plan not in self._plans:
            similar = nearest(plan, self._plans)
            suggestion = f"did you mean {similar}?" if similar else f"there are {', '.join(sorted(self._plans))}"
            raise InvalidInput("plan", f"there is no plan {quoted(plan)}; {suggestion}")
        return plan

    async def _hash(self, password: str, *words: str) -> str:
        return await self._hashes.make(acceptable_password(password, words=(*words, self._brand)))

    async def _rehash(self, user_id: str, old_hash: str, password: str) -> str:
        """Replace a hash that has other parameters, and return the stored one: the old one if that fails."""
        try:
            encoded = await self._hashes.digest_of_known_password(password)
            async with self._database.writing() as session:
                await session.execute(
                    update(UserRow)
                    .where(UserRow.id == user_id, UserRow.password_hash == old_hash)
                    .values(password_hash=encoded)
                )
        except (BackendError, Overloaded) as error:
            log.warning(
                "a password could not be hashed again with the current parameters", user=user_id, error=error.message
            )
            return old_hash
        return encoded

    async def _row_by_email(self, email: str) -> UserRow | None:
        try:
            canonical_email = normalised_email(email)
        except InvalidInput:
            canonical_email = ""  # matches no account; queried anyway, so that it takes as long
        return await self._first(select(UserRow).where(UserRow.email == canonical_email))

    async def _first(self, statement: Select[UserRow]) -> UserRow | None:
        async with self._database.reading() as session:
            return await session.scalar(statement.limit(1))

    async def _change(
        self, user_id: str, *, ends_sessions: bool = False, proven: User | None = None, **values: Any
    ) -> User:
        try:
            async with self._database.writing() as session:
                if proven is not None:
                    row = await session.scalar(select(UserRow).where(UserRow.id == user_id).with_for_update())
                    if row is None or password_stamp(row.password_hash) != proven.password_stamp:
                        raise SignInFailed("the password was changed in the meantime; sign in with the new one")
                row = await _updated(session, as_id(user_id), values)
                if row is None:
                    raise _unknown()
                if ends_sessions:
                    await session.execute(delete(SessionRow).where(SessionRow.user_id == user_id))
                return user_of(row)
        finally:
            if self._credentials is not None:
                self._credentials.forget_account(user_id)


async def _updated(session: AsyncSession, user_id: str, values: dict[str, Any]) -> UserRow | None:
    statement = update(UserRow).where(UserRow.id == user_id).values(**values).returning(UserRow)
    return (await session.scalars(statement)).first()


def user_of(row: UserRow) -> User:
    """Return the account of a row, without its password hash."""
    return User(
        id=row.id,
        email=row.email,
        name=row.name,
        plan=row.plan,
        has_password=bool(row.password_hash),
        disabled=row.disabled,
        created_at=row.created_at,
        last_sign_in_at=row.last_sign_in_at,
        password_stamp=password_stamp(row.password_hash),
    )


def password_stamp(encoded: str) -> bytes:
    """Return a value that differs for each password set; the random salt in the hash guarantees that."""
    return hash_of(encoded)


def identity_row(user_id: str, issuer: str, subject: str) -> IdentityRow:
    """Return the row that links a person at a provider. Raises `InvalidInput` for a bad issuer or subject."""
    if not 0 < len(issuer) <= _MAX_ISSUER_LENGTH or not 0 < len(subject) <= _MAX_SUBJECT_LENGTH:
        raise InvalidInput("identity", f"the subject must have 1 to {_MAX_SUBJECT_LENGTH} characters")
    if not (issuer + subject).isprintable():
        raise InvalidInput("identity", "the subject must not contain control characters")
    return IdentityRow(issuer=issuer, subject=subject, user_id=user_id, created_at=datetime.now(UTC))


def _checked_name(name: str) -> str:
    trimmed = name.strip()
    if len(trimmed) > _MAX_NAME_LENGTH:
        raise InvalidInput("name", f"must have at most {_MAX_NAME_LENGTH} characters")
    if not is_line(trimmed):
        raise InvalidInput("name", "must not contain control characters")
    return trimmed


def _email_taken(email: str) -> InvalidInput:
    return InvalidInput("email", f"there is already an account with the e-mail address {email}")


def _signs_in_elsewhere() -> InvalidInput:
    return InvalidInput("identity", "this person already signs in to another account")


def _unknown() -> NotFound:
    return NotFound("there is no such account")
