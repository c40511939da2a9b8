"""Signing in with a password, and the rate limits on failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pressroom.accounts.sign_in import SignIn
from pressroom.accounts.users import Users
from pressroom.config import Settings
from pressroom.errors import BackendError, Forbidden, Overloaded, PressroomError, RateLimited, SignInFailed
from pressroom.limits import memory_limits
from pressroom.sdk import Limiter, LimitStatus, Rate
from pressroom.storage.database import SqlDatabase
from pressroom.testing.running import settings_for_test
from structlog.testing import capture_logs
from support import databases

PASSWORD = "four quiet random words"
WRONG = "four noisy random words"


@pytest.fixture
def settings(tmp_path: Any) -> Settings:
    accounts = {
        "sign_in_rate_account": "3/hour",
        "sign_in_rate_account_total": "8/hour",
        "sign_in_rate_ip": "6/hour",
    }
    return settings_for_test({"accounts": accounts}, tmp_path)


@pytest.fixture
async def own_database(settings: Settings) -> AsyncIterator[SqlDatabase]:
    async with databases.migrated(settings) as database:
        yield database


@pytest.fixture
async def users(own_database: SqlDatabase, settings: Settings) -> Users:
    users = Users(own_database, settings)
    await users.add("ada@example.com", password=PASSWORD)
    return users


@pytest.fixture
async def limiter(settings: Settings) -> AsyncIterator[Limiter]:
    limiter = memory_limits(settings)
    await limiter.open()
    yield limiter
    await limiter.close()


async def outcome(sign_in: SignIn, email: str, password: str, address: str = "192.0.2.1", device: str = "") -> str:
    try:
        return (await sign_in.with_password(email, password, client_ip=address, device=device)).email
    except PressroomError as error:
        return f"{error.code}: {error.message}"


async def test_the_right_password_signs_in(users: Users, limiter: Limiter, settings: Settings) -> None:
    sign_in = SignIn(users, limiter, settings)
    for _ in range(10):
        assert await outcome(sign_in, " ADA@example.com", PASSWORD) == "ada@example.com"
    user = await users.by_email("ada@example.com")
    assert user is not None
    assert user.last_sign_in_at is not None


async def test_an_unknown_email_address_gets_the_same_response_as_a_known_one(
    users: Users, limiter: Limiter, settings: Settings
) -> None:
    sign_in = SignIn(users, limiter, settings)
    await users.add("bare@example.com")
    results = []
    for number, email in enumerate(("ada@example.com", "bob@example.com", "bare@example.com", "no address")):
        results.append([await outcome(sign_in, email, WRONG, f"192.0.2.{number}") for _ in range(5)])
    assert results[0][:3] == ["sign_in_failed: the e-mail address or the password is wrong"] * 3
    assert results[0][3:] == ["rate_limited: too many sign-ins have failed; try again in 60 minutes"] * 2
    assert all(result == results[0] for result in results)


async def test_the_right_password_is_not_checked_once_limited(
    users: Users, limiter: Limiter, settings: Settings
) -> None:
    sign_in = SignIn(users, limiter, settings)
    for _ in range(3):
        await outcome(sign_in, "Ada@Example.com", WRONG)
    with pytest.raises(RateLimited) as refused:
        await sign_in.with_password("ada@example.com", PASSWORD, client_ip="192.0.2.1")
    assert 3500 < refused.value.retry_after <= 3600
    assert await outcome(sign_in, "ada@example.com", PASSWORD, "192.0.2.9") == "ada@example.com"


async def test_guesses_from_many_ip_addresses_share_a_limit(users: Users, limiter: Limiter, settings: Settings) -> None:
    sign_in = SignIn(users, limiter, settings)
    for email in ("ada@example.com", "nobody@example.com"):
        results = [await outcome(sign_in, email, WRONG, f"198.51.100.{number}") for number in range(10)]
        assert [result.partition(":")[0] for result in results] == ["sign_in_failed"] * 8 + ["rate_limited"] * 2
        assert (await outcome(sign_in, email, PASSWORD, "192.0.2.9")).startswith("rate_limited")


async def test_a_known_browser_has_its_own_limit(users: Users, limiter: Limiter, settings: Settings) -> None:
    sign_in = SignIn(users, limiter, settings)
    for number in range(10):
        await outcome(sign_in, "ada@example.com", WRONG, f"198.51.100.{number}")
    assert await outcome(sign_in, "ada@example.com", PASSWORD, "198.51.100.1", "laptop") == "ada@example.com"
    results = [await outcome(sign_in, "ada@example.com", WRONG, "192.0.2.1", "laptop") for _ in range(4)]
    assert [result.partition(":")[0] for result in results] == ["sign_in_failed"] * 3 + ["rate_limited"]
    assert await outcome(sign_in, "ada@example.com", PASSWORD, "192.0.2.1", "phone") == "ada@example.com"
    # All browsers that once signed in with the right password share one limit, however many there are.
    results = [await outcome(sign_in, "ada@example.com", WRONG, "192.0.2.1", f"one {n}") for n in range(10)]
    assert [result.partition(":")[0] for result in results] == ["sign_in_failed"] * 5 + ["rate_limited"] * 5


async def test_an_ip_address_that_tries_many_accounts_is_limited(
    users: Users, limiter: Limiter, settings: Settings
) -> None:
    sign_in = SignIn(users, limiter, settings)
    results = [await outcome(sign_in, f"p{number}@example.com", WRONG) for number in range(8)]
    assert [result.partition(":")[0] for result in results] == ["sign_in_failed"] * 6 + ["rate_limited"] * 2
    assert await outcome(sign_in, "ada@example.com", PASSWORD, "192.0.2.2") == "ada@example.com"


async def test_attempts_refused_for_the_ip_address_do_not_count_for_the_account(
    users: Users, limiter: Limiter, settings: Settings
) -> None:
    sign_in = SignIn(users, limiter, settings)
    for number in range(6):
        await outcome(sign_in, f"p{number}@example.com", WRONG)
    for _ in range(5):
        assert (await outcome(sign_in, "ada@example.com", WRONG)).startswith("rate_limited")
    assert await outcome(sign_in, "ada@example.com", PASSWORD, "192.0.2.2") == "ada@example.com"


async def test_concurrent_guesses_are_limited_too(users: Users, limiter: Limiter, settings: Settings) -> None:
    sign_in = SignIn(users, limiter, settings)
    guesses = (outcome(sign_in, "ada@example.com", f"{WRONG} {number}", f"192.0.2.{number}") for number in range(30))
    codes = [result.partition(":")[0] for result in await asyncio.gather(*guesses)]
    assert (codes.count("sign_in_failed"), codes.count("rate_limited")) == (8, 22)


class Away:
    """A limiter whose store is unavailable."""

    async def _fail(self, *_arguments: object) -> Any:
        raise BackendError("the store is away")

    open = close = take = give_back = peek = _fail


@pytest.mark.parametrize("on_outage", ["allow", "refuse"])
async def test_an_outage_of_the_limiter_follows_the_operators_choice(
    users: Users, settings: Settings, on_outage: str
) -> None:
    changed_settings = settings.model_copy(
        update={"limits": settings.limits.model_copy(update={"on_outage": on_outage})}
    )
    sign_in = SignIn(users, Away(), changed_settings)
    if on_outage == "refuse":
        with pytest.raises(Overloaded):
            await sign_in.with_password("ada@example.com", PASSWORD, client_ip="192.0.2.1")
        return
    assert await outcome(sign_in, "ada@example.com", PASSWORD) == "ada@example.com"
    with pytest.raises(SignInFailed):
        await sign_in.with_password("ada@example.com", WRONG, client_ip="192.0.2.1")


class AwayInBetween:
    """A limiter whose store goes away while a sign-in is counted, after the first of its windows."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self.give_back = limiter.give_back
        self._taken = 0

    async def open(self) -> None:
        """Do nothing, since the inner limiter is open."""

    async def close(self) -> None:
        """Do nothing."""

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        self._taken += 1
        if self._taken % 2 == 0:
            raise BackendError("the store is away")
        return await self._limiter.take(rate, key, cost)

    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        return await self._limiter.peek(rate, key)


async def test_a_partially_counted_sign_in_does_not_count(users: Users, limiter: Limiter, settings: Settings) -> None:
    changed_settings = settings.model_copy(
        update={"limits": settings.limits.model_copy(update={"on_outage": "refuse"})}
    )
    sign_in = SignIn(users, AwayInBetween(limiter), changed_settings)
    for _ in range(5):
        assert (await outcome(sign_in, "ada@example.com", PASSWORD)).startswith("overloaded")
    assert await outcome(SignIn(users, limiter, settings), "ada@example.com", PASSWORD) == "ada@example.com"


async def test_a_database_outage_is_not_a_failed_sign_in(
    users: Users, own_database: SqlDatabase, limiter: Limiter, settings: Settings
) -> None:
    sign_in = SignIn(users, limiter, settings)
    await own_database.close()
    for _ in range(5):
        assert (await outcome(sign_in, "ada@example.com", PASSWORD)).startswith("backend_error")
    await own_database.open()
    assert await outcome(sign_in, "ada@example.com", PASSWORD) == "ada@example.com"


async def test_password_sign_in_may_be_disabled(users: Users, limiter: Limiter, settings: Settings) -> None:
    accounts = settings.accounts.model_copy(update={"password_sign_in": False})
    sign_in = SignIn(users, limiter, settings.model_copy(update={"accounts": accounts}))
    with pytest.raises(Forbidden):
        await sign_in.with_password("ada@example.com", PASSWORD, client_ip="192.0.2.1")


async def test_the_log_has_the_ip_address_but_not_the_user_or_password(
    users: Users, limiter: Limiter, settings: Settings
) -> None:
    with capture_logs() as logs:
        await outcome(SignIn(users, limiter, settings), "ada@example.com", WRONG, "192.0.2.77")
    assert [(entry["event"], entry["client_ip"]) for entry in logs] == [("a sign-in failed", "192.0.2.77")]
    assert "ada" not in str(logs)
    assert WRONG not in str(logs)
