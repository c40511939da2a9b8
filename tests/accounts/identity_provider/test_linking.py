"""Linking an identity at the provider to an account, on every database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pressroom.accounts.identity_provider import AccountLinking, IdentityClaims
from pressroom.accounts.users import Users
from pressroom.config import Settings
from pressroom.config.account_models import IdentityProviderSettings
from pressroom.errors import SignInFailed
from pressroom.storage.database import SqlDatabase

ADA = IdentityClaims("https://id.example", "7", "Ada@example.com", True, "Ada Lovelace")


@pytest.fixture
def users(database: SqlDatabase, database_settings: Settings) -> Users:
    return Users(database, database_settings)


def linking(users: Users, **settings: Any) -> AccountLinking:
    return AccountLinking(users, IdentityProviderSettings.model_validate({"issuer": "https://id.example"} | settings))


async def test_a_new_user_gets_an_account_and_returns_to_it(users: Users) -> None:
    user = await linking(users).sign_in(ADA)
    assert (user.email, user.name, user.plan, user.has_password) == ("ada@example.com", "Ada Lovelace", "free", False)
    second = await linking(users, create_accounts=False).sign_in(ADA)
    assert second.id == user.id
    assert (await users.get(user.id)).last_sign_in_at is not None


async def test_an_account_is_recognised_after_its_email_address_changes(users: Users) -> None:
    user = await linking(users).sign_in(ADA)
    for changed in (replace(ADA, email="ada@new.example"), replace(ADA, email="", email_verified=False)):
        assert (await linking(users).sign_in(changed)).id == user.id
    assert len(await users.list()) == 1


async def test_an_unlinked_account_is_linked_at_sign_in(users: Users) -> None:
    waiting = await users.add("ada@example.com", name="Ada")
    assert (await linking(users, create_accounts=False).sign_in(ADA)).id == waiting.id
    assert (await users.by_identity(ADA.issuer, ADA.subject)) is not None


@pytest.mark.parametrize("email", ["ada@example.com", "", "no address", "a@b@example.com"])
@pytest.mark.parametrize("verified", [True, False])
async def test_an_unverified_email_address_is_not_linked(users: Users, email: str, verified: bool) -> None:
    if verified and email == "ada@example.com":
        email = "\0ada@example.com"
    await users.add("ada@example.com")
    with pytest.raises(SignInFailed, match="confirm your e-mail address"):
        await linking(users).sign_in(replace(ADA, email=email, email_verified=verified))
    assert await users.by_identity(ADA.issuer, ADA.subject) is None
    assert len(await users.list()) == 1


async def test_an_account_with_a_password_is_not_linked(users: Users) -> None:
    squatted = await users.add("ada@example.com", password="the squatter's own words")
    with pytest.raises(SignInFailed, match="signs in with a password"):
        await linking(users).sign_in(ADA)
    assert await users.by_identity(ADA.issuer, ADA.subject) is None
    await users.clear_password(squatted.id)
    assert (await linking(users).sign_in(ADA)).id == squatted.id


async def test_the_next_owner_of_an_email_address_does_not_get_the_account(users: Users) -> None:
    await linking(users).sign_in(ADA)
    with pytest.raises(SignInFailed, match="belongs to somebody else"):
        await linking(users).sign_in(replace(ADA, subject="8"))
    with pytest.raises(SignInFailed, match="belongs to somebody else"):
        await linking(users).sign_in(replace(ADA, issuer="https://other.example"))


async def test_a_disabled_account_is_refused(users: Users) -> None:
    ada = await linking(users).sign_in(ADA)
    waiting = await users.add("bob@example.com")
    for user in (ada, waiting):
        await users.set_disabled(user.id, True)
    with pytest.raises(SignInFailed, match="disabled"):
        await linking(users).sign_in(ADA)
    with pytest.raises(SignInFailed, match="disabled"):
        await linking(users).sign_in(replace(ADA, subject="8", email="bob@example.com"))
    assert (await users.get(ada.id)).last_sign_in_at is not None
    assert (await users.get(waiting.id)).last_sign_in_at is None


async def test_without_new_accounts_the_page_says_whom_to_ask(users: Users) -> None:
    with pytest.raises(
        SignInFailed, match=r"^there is no account for ada@example.com; ask the operator of this server"
    ):
        await linking(users, create_accounts=False).sign_in(ADA)
    assert not await users.any()


@pytest.mark.parametrize(
    ("email", "allowed"),
    [
        ("ada@example.com", True),
        ("ada@EXAMPLE.com", True),
        ("ada@other.example", True),
        ("ada@sub.example.com", False),
        ("ada@notexample.com", False),
        ("ada@example.com.evil.example", False),
    ],
)
async def test_only_allowed_domains_sign_in(users: Users, email: str, allowed: bool) -> None:
    link = linking(users, allowed_domains=["Example.com", "@other.example"])
    if allowed:
        assert (await link.sign_in(replace(ADA, email=email))).email == email.lower()
    else:
        with pytest.raises(SignInFailed, match="may not sign in here"):
            await link.sign_in(replace(ADA, email=email))


async def test_removing_a_domain_locks_out_its_existing_accounts(users: Users) -> None:
    await linking(users).sign_in(ADA)
    strict = linking(users, allowed_domains=["other.example"])
    for claims in (ADA, replace(ADA, email_verified=False), replace(ADA, email="")):
        with pytest.raises(SignInFailed):
            await strict.sign_in(claims)


async def test_concurrent_sign_ins_of_one_person_create_no_second_account(users: Users) -> None:
    signed_in = await asyncio.gather(*(linking(users).sign_in(ADA) for _ in range(6)))
    assert len({user.id for user in signed_in}) == 1
    assert len(await users.list()) == 1


async def test_concurrent_sign_ins_with_one_email_address_link_one_identity(users: Users) -> None:
    waiting = await users.add("ada@example.com")
    attempts = (linking(users).sign_in(replace(ADA, subject=str(number))) for number in range(6))
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["SignInFailed"] * 5 + ["User"]
    assert [user.id for user in await users.list()] == [waiting.id]


async def test_a_signed_in_user_may_connect_the_provider(users: Users) -> None:
    ada = await users.add("ada@home.example", password="four quiet random words")
    bob = await users.add("bob@example.com")
    await linking(users).connect(ada, ADA)
    assert (await linking(users).sign_in(ADA)).id == ada.id
    with pytest.raises(SignInFailed, match="another account"):
        await linking(users).connect(bob, ADA)


@pytest.mark.parametrize("name", ["x" * 300, "bad\0name", "\x1b[31mred", "", "   "])
async def test_an_invalid_name_does_not_prevent_sign_in(users: Users, name: str) -> None:
    user = await linking(users).sign_in(replace(ADA, name=name))
    assert len(user.name) <= 100
    assert user.name.isprintable()


@pytest.mark.parametrize("subject", ["", "x" * 256, "a\0b"])
async def test_a_subject_that_cannot_be_stored_is_refused(users: Users, subject: str) -> None:
    with pytest.raises(SignInFailed):
        await linking(users).sign_in(replace(ADA, subject=subject))
    assert not await users.any()
