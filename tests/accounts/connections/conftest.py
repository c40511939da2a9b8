"""Test accounts on every database."""

import pytest
from pressroom.accounts.records import User
from pressroom.accounts.service import AccountServices
from pressroom.config import Settings
from pressroom.storage.database import SqlDatabase


@pytest.fixture
def accounts(database: SqlDatabase, database_settings: Settings) -> AccountServices:
    """Return the account services without their background tasks."""
    return AccountServices(database_settings, database)


@pytest.fixture
async def user(accounts: AccountServices) -> User:
    return await accounts.users.add("ada@example.com")


@pytest.fixture
async def other(accounts: AccountServices) -> User:
    return await accounts.users.add("eve@example.com")
