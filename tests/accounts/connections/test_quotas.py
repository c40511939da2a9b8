"""Monthly quotas: counting is exact."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.accounts.quotas import month_of, next_month
from pressroom.accounts.records import User
from pressroom.accounts.service import AccountServices
from pressroom.config import Settings
from pressroom.errors import BackendError, NotFound, QuotaExceeded
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import QuotaRow

ARTICLES = "articles_created"


async def taken(accounts: AccountServices, user: User, limit: int | None) -> bool:
    try:
        await accounts.quotas.take(user.id, ARTICLES, limit)
    except QuotaExceeded:
        return False
    return True


async def test_fifty_concurrent_callers_never_exceed_the_quota(accounts: AccountServices, user: User) -> None:
    results = await asyncio.gather(*(taken(accounts, user, 20) for _ in range(50)))
    assert sum(results) == 20
    assert await accounts.quotas.used(user.id) == {ARTICLES: 20}


async def test_two_concurrent_processes_never_exceed_the_quota(
    accounts: AccountServices, database_settings: Settings, user: User
) -> None:
    database = SqlDatabase(database_settings)
    await database.open()
    try:
        other_services = AccountServices(database_settings, database)
        both = (accounts, other_services)
        results = await asyncio.gather(*(taken(both[number % 2], user, 20) for number in range(50)))
    finally:
        await database.close()
    assert sum(results) == 20


async def test_the_refusal_says_when_the_quota_resets(accounts: AccountServices, user: User) -> None:
    await accounts.quotas.take(user.id, ARTICLES, 1)
    with pytest.raises(QuotaExceeded) as caught:
        await accounts.quotas.take(user.id, ARTICLES, 1)
    begins = next_month(datetime.now(UTC))
    assert caught.value.message == (
        "the plan of this account includes 1 articles_created a month, and all of them are used; the quota resets on "
        f"{begins:%Y-%m-%d} (UTC)"
    )


@pytest.mark.parametrize("limit", [5_000_000_000, 10**20])
async def test_a_quota_may_be_larger_than_any_count(accounts: AccountServices, user: User, limit: int) -> None:
    assert [await taken(accounts, user, limit) for _ in range(2)] == [True, True]
    assert await accounts.quotas.used(user.id) == {ARTICLES: 2}


async def test_a_quota_may_be_zero(accounts: AccountServices, user: User) -> None:
    with pytest.raises(QuotaExceeded, match="includes no articles_created"):
        await accounts.quotas.take(user.id, ARTICLES, 0)
    assert await accounts.quotas.used(user.id) == {}


async def test_use_is_counted_without_a_limit(accounts: AccountServices, user: User) -> None:
    assert [await taken(accounts, user, None) for _ in range(3)] == [True] * 3
    assert await accounts.quotas.used(user.id) == {ARTICLES: 3}


async def test_a_limit_may_be_lowered_below_the_current_use(accounts: AccountServices, user: User) -> None:
    for _ in range(5):
        await accounts.quotas.take(user.id, ARTICLES, 10)
    assert not await taken(accounts, user, 3)
    assert await accounts.quotas.used(user.id) == {ARTICLES: 5}


async def test_what_is_given_back_can_be_taken_again(accounts: AccountServices, user: User) -> None:
    month = await accounts.quotas.take(user.id, ARTICLES, 1)
    await accounts.quotas.give_back(user.id, ARTICLES, month)
    assert await taken(accounts, user, 1)
    assert not await taken(accounts, user, 1)


async def test_nothing_is_given_back_twice(accounts: AccountServices, user: User) -> None:
    month = await accounts.quotas.take(user.id, ARTICLES, 1)
    await accounts.quotas.give_back(user.id, ARTICLES, month)
    await accounts.quotas.give_back(user.id, ARTICLES, month)
    assert await accounts.quotas.used(user.id) == {ARTICLES: 0}


async def test_accounts_quotas_and_months_are_counted_separately(
    accounts: AccountServices, database: SqlDatabase, user: User, other: User
) -> None:
    async with database.writing() as session:
        session.add(QuotaRow(user_id=user.id, month="2001-01", quota=ARTICLES, used=7))
    await accounts.quotas.take(user.id, ARTICLES, 1)
    await accounts.quotas.take(user.id, "images_generated", 1)
    await accounts.quotas.take(other.id, ARTICLES, 1)
    assert await accounts.quotas.used(user.id) == {ARTICLES: 1, "images_generated": 1}
    assert await accounts.quotas.used(other.id) == {ARTICLES: 1}


async def test_quota_is_given_back_to_the_month_it_was_taken_from(
    accounts: AccountServices, database: SqlDatabase, user: User
) -> None:
    async with database.writing() as session:
        session.add(QuotaRow(user_id=user.id, month="2001-01", quota=ARTICLES, used=7))
    await accounts.quotas.take(user.id, ARTICLES, 5)
    await accounts.quotas.give_back(user.id, ARTICLES, "2001-01")
    assert await accounts.quotas.used(user.id) == {ARTICLES: 1}


@pytest.mark.parametrize("subject", ["u_nobody", "", "\0", "\ud800", "https://id.example/" + "x" * 200])
async def test_quotas_need_an_account(accounts: AccountServices, subject: str) -> None:
    with pytest.raises(NotFound):
        await accounts.quotas.take(subject, ARTICLES, 5)
    await accounts.quotas.give_back(subject, ARTICLES, "2026-11")
    assert await accounts.quotas.used(subject) == {}


async def test_an_outage_is_raised(accounts: AccountServices, database: SqlDatabase, user: User) -> None:
    await database.close()
    with pytest.raises(BackendError):
        await accounts.quotas.take(user.id, ARTICLES, 5)


@pytest.mark.parametrize(
    ("moment", "month", "following"),
    [
        (datetime(2026, 12, 31, 23, 59, 59, 999_999, UTC), "2026-12", datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2027, 1, 1, tzinfo=UTC), "2027-01", datetime(2027, 2, 1, tzinfo=UTC)),
        (datetime(2028, 2, 29, 12, tzinfo=UTC), "2028-02", datetime(2028, 3, 1, tzinfo=UTC)),
        (datetime(2026, 12, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2026-11", datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_months_are_in_utc(moment: datetime, month: str, following: datetime) -> None:
    assert (month_of(moment), next_month(moment)) == (month, following)


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_the_next_month_begins_right_after_this_one(moment: datetime) -> None:
    following = next_month(moment)
    assert moment < following
    assert month_of(following - timedelta(microseconds=1)) == month_of(moment) != month_of(following)
