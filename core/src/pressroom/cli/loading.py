"""Load what commands work on: the plugins, the compiled catalog, and the accounts in the database."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from pressroom.cli.options import Invocation
from pressroom.cli.output import Output
from pressroom.errors import NotFound
from pressroom.host.collector import collector_paused

if TYPE_CHECKING:
    from pressroom.accounts.records import User
    from pressroom.accounts.service import AccountServices
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.storage.database import SqlDatabase

R = TypeVar("R")


def compiled(invocation: Invocation) -> LoadedApp:
    """Load the plugins and compile the catalog from the configuration, without starting anything.

    Raises:
        InvalidConfig: the configuration is invalid.
    """
    with collector_paused():
        from pressroom.host.loaded_app import LoadedApp  # noqa: PLC0415 - loads plugins, which takes time
        from pressroom.observability.logs import configure_logging  # noqa: PLC0415

        loaded = invocation.load_config()
        configure_logging(loaded.settings.logging)  # to standard error, away from the command's result
        app = LoadedApp(loaded.settings, loaded.origins)
        app.gate.logs = False
        if invocation.own_process:
            gc.freeze()
    return app


def print_safe_mode(output: Output, loaded: LoadedApp) -> None:
    """In safe mode, report which plugins were left out."""
    if loaded.settings.safe_mode:
        output.note(f"Safe mode: only built-in plugins are loaded. Left out: {', '.join(left_out(loaded)) or 'none'}.")


def left_out(loaded: LoadedApp) -> list[str]:
    """Return the IDs of the plugins left out only because of safe mode."""
    from pressroom.plugins.select import SAFE_MODE  # noqa: PLC0415 - pydantic

    return [record.id for record in loaded.plugins.records if record.error == SAFE_MODE]


@asynccontextmanager
async def open_accounts(invocation: Invocation) -> AsyncIterator[tuple[LoadedApp, SqlDatabase, AccountServices]]:
    """Open the configured database with its account services, and close the database on exit.

    A server can use the database at the same time. Migrates the schema of an embedded database, as `serve` does.

    Raises:
        InvalidConfig: the configuration is invalid.
        BackendError: the database cannot be used, or the schema of a PostgreSQL database is behind.
    """
    from pressroom.accounts.service import AccountServices  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.host.stores import make_schema_current  # noqa: PLC0415
    from pressroom.storage.database import SqlDatabase  # noqa: PLC0415

    app = compiled(invocation)
    database = SqlDatabase(app.settings)
    await database.open()
    try:
        await make_schema_current(app, database)
        yield app, database, AccountServices(app.settings, database)
    finally:
        await database.close()


def with_accounts(invocation: Invocation, function: Callable[[AccountServices], Awaitable[R]]) -> R:
    """Call `function` with open account services and return its result. Raises the errors of `open_accounts`."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    async def run() -> R:
        async with open_accounts(invocation) as (_, _, accounts):
            return await function(accounts)

    return asyncio.run(run())


async def account_of(accounts: AccountServices, email: str) -> User:
    """Return the account with an e-mail address. Raises `NotFound`, with the command that lists accounts as hint."""
    user = await accounts.users.by_email(email)
    if user is None:
        raise NotFound(f"there is no account with the e-mail address {email}", hint="`pressroom users list` shows them")
    return user
