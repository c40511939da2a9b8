"""Password sign-in, with rate limits on failures."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import structlog

from pressroom.accounts.records import User
from pressroom.accounts.users import Users, normalised_email
from pressroom.config.models import Settings
from pressroom.config.values import parse_rate
from pressroom.errors import BackendError, Forbidden, InvalidInput, Overloaded, RateLimited, SignInFailed
from pressroom.sdk import Limiter, LimitStatus, Rate
from pressroom.validation.echo import waiting_time

log = structlog.get_logger()

_MAX_KEY_SOURCE_LENGTH: Final = 1000

Window = tuple[Rate, str]


class SignIn:
    """Checks passwords and counts failures; successful sign-ins do not count.

    Failures are counted per account and client IP address, per IP address, and, with a much higher limit, per account
    across all IP addresses. A browser in which the person has signed in before is counted separately. Guessing
    therefore cannot lock the owner out, and guesses from many IP addresses are limited too.

    An unknown e-mail address is counted and refused like any other, so responses do not reveal which accounts
    exist. If failures cannot be counted, `[limits] on_outage` decides whether sign-ins pass or are refused.
    """

    def __init__(self, users: Users, limiter: Limiter, settings: Settings) -> None:
        self._users = users
        self._limiter = limiter
        self._allowed = settings.accounts.password_sign_in
        self._account_rate = parse_rate(settings.accounts.sign_in_rate_account)
        self._total_rate = parse_rate(settings.accounts.sign_in_rate_account_total)
        self._ip_rate = parse_rate(settings.accounts.sign_in_rate_ip)
        self._refuse_on_outage = settings.limits.on_outage == "refuse"

    async def with_password(self, email: str, password: str, *, client_ip: str, device: str = "") -> User:
        """Return the account that a person signs in to, and record the time of the sign-in.

        Args:
            email: The e-mail address as typed.
            password: The password as typed.
            client_ip: The client's IP address, as in the pipeline's `Caller`.
            device: ID of a browser in which this account has signed in before; empty for any other. The caller must
                have verified it.

        Raises:
            SignInFailed: The e-mail address or password is wrong, or the account is disabled; the message does not
                reveal which.
            RateLimited: Too many sign-ins to the account, or from the IP address, have failed.
            Forbidden: The operator disabled passwords.
            Overloaded: Too many people are signing in, or failures cannot be counted and `[limits] on_outage` is
                `refuse`.
        """
        if not self._allowed:
            raise Forbidden("signing in with a password is switched off on this server")
        windows = self._windows(account_key(email), client_ip, device)
        # Count before checking the password, so that concurrent guesses are limited too.
        await self._count(windows)
        try:
            user = await self._users.verify_password(email, password)
        except (BackendError, Overloaded):
            await self._give_back(windows)
            raise
        if user is None:
            log.info("a sign-in failed", client_ip=client_ip)
            raise SignInFailed("the e-mail address or the password is wrong")
        await self._give_back(windows)
        await self._users.signed_in(user.id, datetime.now(UTC))
        return user

    @asynccontextmanager
    async def counted(self, *, client_ip: str) -> AsyncIterator[None]:
        """Count the block as a failed sign-in from an IP address if it raises `SignInFailed`.

        Raises:
            RateLimited: Too many sign-ins from the IP address have failed.
            Overloaded: Failures cannot be counted and `[limits] on_outage` is `refuse`.
        """
        windows = ((self._ip_rate, _ip_key(client_ip)),)
        await self._count(windows)
        try:
            yield
        except SignInFailed:
            raise
        except BaseException:
            await self._give_back(windows)
            raise
        await self._give_back(windows)

    def _windows(self, account: str, client_ip: str, device: str) -> Sequence[Window]:
        if device:
            return (
                (self._account_rate, f"sign-in device\n{account}\n{device}"),
                (self._total_rate, f"sign-in devices\n{account}"),
            )
        return (
            (self._account_rate, f"sign-in account\n{account}\n{client_ip}"),
            (self._ip_rate, _ip_key(client_ip)),
            (self._total_rate, f"sign-in everywhere\n{account}"),
        )

    async def _count(self, windows: Sequence[Window]) -> None:
        passed: list[Window] = []
        try:
            for window in windows:
                status = await self._take(window)
                if status is not None and not status.allowed:
                    raise _refusal(status)
                if status is not None:
                    passed.append(window)
        except (Overloaded, RateLimited):
            await self._give_back(passed)
            raise

    async def _take(self, window: Window) -> LimitStatus | None:
        try:
            return await self._limiter.take(*window, 1)
        except BackendError as error:
            log.warning("failed sign-ins cannot be counted", error=str(error))
            if self._refuse_on_outage:
                raise Overloaded("sign-in is not available right now; try again shortly") from error
            return None

    async def _give_back(self, windows: Sequence[Window]) -> None:
        for window in windows:
            try:
                await self._limiter.give_back(*window, 1)
            except BackendError as error:
                log.warning("failed sign-ins cannot be counted", error=str(error))


def account_key(email: str) -> str:
    """Return the key under which an account's failures are counted, whether or not the account exists."""
    try:
        account = normalised_email(email)
    except InvalidInput:
        account = email[:_MAX_KEY_SOURCE_LENGTH]
    return hashlib.sha256(account.encode(errors="surrogatepass")).hexdigest()


def _ip_key(client_ip: str) -> str:
    return f"sign-in address\n{client_ip}"


def _refusal(status: LimitStatus) -> RateLimited:
    seconds = max(1, math.ceil(status.reset_at - time.time()))
    return RateLimited(f"too many sign-ins have failed; try again in {waiting_time(seconds)}", retry_after=seconds)
