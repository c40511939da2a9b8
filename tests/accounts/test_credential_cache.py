"""The per-process credential cache."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from pressroom.accounts.credential_cache import CredentialCache
from pressroom.errors import Rejected
from pressroom.sdk import Identity
from pressroom.testing.clock import FrozenClock

KEY = b"k"


def identity(number: int = 1) -> Identity:
    return Identity(subject=f"u_{number}", plan="free", connection=f"c_{number}")


class LookUps:
    """Counts its look-ups."""

    def __init__(self, found: Identity | None = None) -> None:
        self.count = 0
        self.found = found or identity()

    async def __call__(self) -> Identity:
        self.count += 1
        return self.found


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def cache(clock: FrozenClock) -> CredentialCache:
    return CredentialCache(5, most_entries=3, clock=clock.seconds)


async def test_an_entry_is_cached_for_its_lifetime(cache: CredentialCache, clock: FrozenClock) -> None:
    lookup = LookUps()
    for advance in (0, 4.9, 0.2, 4.9):
        clock.advance(advance)
        assert await cache.identity(KEY, lookup) == identity()
    assert lookup.count == 2


async def test_the_lifetime_starts_at_the_beginning_of_the_lookup(cache: CredentialCache, clock: FrozenClock) -> None:
    async def slow() -> Identity:
        clock.advance(5)
        return identity()

    await cache.identity(KEY, slow)
    assert cache.get(KEY) is None


async def test_a_token_is_not_cached_beyond_its_expiry(cache: CredentialCache, clock: FrozenClock) -> None:
    await cache.identity(KEY, LookUps(), seconds=2)
    clock.advance(1.9)
    assert cache.get(KEY) == identity()
    clock.advance(0.2)
    assert cache.get(KEY) is None


async def test_a_lifetime_of_zero_disables_the_cache(clock: FrozenClock) -> None:
    cache, lookup = CredentialCache(0, clock=clock.seconds), LookUps()
    await asyncio.gather(*(cache.identity(KEY, lookup) for _ in range(3)))
    assert lookup.count == 3


async def test_a_refusal_reaches_all_waiting_callers_and_is_not_cached(cache: CredentialCache) -> None:
    count = 0

    async def refuse() -> Identity:
        nonlocal count
        count += 1
        raise Rejected("no")

    results = await asyncio.gather(*(cache.identity(KEY, refuse) for _ in range(5)), return_exceptions=True)
    assert [type(result) for result in results] == [Rejected] * 5
    assert count == 1
    assert await cache.identity(KEY, LookUps()) == identity()


async def test_a_cancelled_caller_does_not_cancel_the_others(cache: CredentialCache) -> None:
    may_go_on = asyncio.Event()

    async def slow() -> Identity:
        await may_go_on.wait()
        return identity()

    first, second = (asyncio.create_task(cache.identity(KEY, slow)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    may_go_on.set()
    assert await second == identity()


async def test_the_least_recently_used_entry_is_evicted(cache: CredentialCache) -> None:
    for number in range(3):
        await cache.identity(bytes([number]), LookUps(identity(number)))
    cache.get(b"\0")
    await cache.identity(b"\3", LookUps(identity(3)))
    assert [cache.get(bytes([number])) is not None for number in range(4)] == [True, False, True, True]


Forget = Callable[[CredentialCache], None]


@pytest.mark.parametrize(
    ("forget", "left"),
    [
        (lambda cache: cache.forget_connection("c_1"), [False, True]),
        (lambda cache: cache.forget_account("u_2"), [True, False]),
        (lambda cache: cache.forget_connection("u_1"), [True, True]),
        (lambda cache: cache.clear(), [False, False]),
    ],
)
async def test_a_forgotten_entry_is_looked_up_again(cache: CredentialCache, forget: Forget, left: list[bool]) -> None:
    for number in (1, 2):
        await cache.identity(bytes([number]), LookUps(identity(number)))
    forget(cache)
    assert [cache.get(bytes([number])) is not None for number in (1, 2)] == left


@pytest.mark.parametrize("forget", [lambda cache: cache.clear(), lambda cache: cache.forget_account("u_other")])
async def test_a_pending_lookup_is_neither_cached_nor_joined_after_forgetting(
    cache: CredentialCache, forget: Forget
) -> None:
    may_go_on = asyncio.Event()

    async def stale() -> Identity:
        await may_go_on.wait()
        return identity(1)

    early = asyncio.create_task(cache.identity(KEY, stale))
    await asyncio.sleep(0)
    forget(cache)
    fresh: Awaitable[Identity] = cache.identity(KEY, LookUps(identity(2)))
    assert await fresh == identity(2)
    may_go_on.set()
    assert await early == identity(1)
    assert cache.get(KEY) == identity(2)
