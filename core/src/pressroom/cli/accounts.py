"""Open the database and the account services for commands that can run alongside a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from pressroom.cli.loading import compiled as compiled_from
from pressroom.cli.options import Invocation
from pressroom.errors import NotFound

if TYPE_CHECKING:
    from pressroom.accounts.records import User
    from pressroom.accounts.service import AccountServices
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.storage.database import SqlDatabase

R = TypeVar("R")


@asynccontextmanager
async def open_accounts(invocation: Invocation) -> AsyncIterator[tuple[LoadedApp, SqlDatabase, AccountServices]]:
    """Open the configured database with its account services, and close the database on exit.

    Migrates the schema of an embedded database, as `serve` does.

    Raises:
        InvalidConfig: the configuration is invalid.
        BackendError: the database cannot be used, or the schema of a PostgreSQL database is behind.
    """
    from pressroom.accounts.service import AccountServices  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.host.stores import make_schema_current  # noqa: PLC0415
    from pressroom.storage.database import SqlDatabase  # noqa: PLC0415

    compiled = compiled_from(invocation)
    database = SqlDatabase(compiled.settings)
    await database.open()
    try:
        await make_schema_current(compiled, database)
        yield compiled, database, AccountServices(compiled.settings, database)
    finally:
        await database.close()


def with_accounts(invocation: Invocation, work: Callable[[AccountServices], Awaitable[R]]) -> R:
    """Call `work` with open account services and return its result. Raises the errors of `open_accounts`."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    async def run() -> R:
        async with open_accounts(invocation) as (_, _, accounts):
            return await work(accounts)

    return asyncio.run(run())


async def account_of(accounts: AccountServices, email: str) -> User:
    """Return the account with an e-mail address. Raises `NotFound`, with the command that lists accounts as hint."""
    user = await accounts.users.by_email(email)
    if user is None:
        raise NotFound(f"there is no account with the e-mail address {email}", hint="`pressroom users list` shows them")
    return user
