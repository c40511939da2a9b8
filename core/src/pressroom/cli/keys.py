"""`pressroom keys`: manage the API keys of accounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.loading import account_of, open_accounts, with_accounts
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pressroom.accounts.records import Connection, User
    from pressroom.accounts.service import AccountServices
    from pressroom.catalog.tool import Catalog
    from pressroom.sdk.declaration import Access


@click.group(cls=LazyGroup)
@common_options
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.argument("email")
@click.option("--name", required=True, help="Name of the key, such as the program that uses it.")
@click.option(
    "--access",
    type=click.Choice(("read", "drafts", "publish", "full")),
    metavar="LEVEL",
    default="full",
    show_default=True,
    help="What the key may do: read, drafts, publish or full.",
)
@click.option(
    "--toolsets", default="", help="Toolsets to list, separated by commas, such as core,seo. Default: the server's."
)
@command_options
def create(invocation: Invocation, email: str, name: str, access: Access, toolsets: str) -> None:
    """Create an API key and print it once: only its hash is stored."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    from pressroom.accounts.records import AccessChoice  # noqa: PLC0415 - only where a key is made

    toolset_names = frozenset(filter(None, (name.strip() for name in toolsets.split(","))))

    async def make() -> tuple[User, Connection, str]:
        async with open_accounts(invocation) as (compiled, _, accounts):
            _check_toolsets(toolset_names, compiled.catalog)
            user = await account_of(accounts, email)
            return user, *await accounts.api_keys.create(user.id, name, AccessChoice(access, toolset_names or None))

    user, connection, key = asyncio.run(make())
    if invocation.json:
        invocation.output.data({**as_data(connection), "email": user.email, "key": key})
        return
    invocation.output.note(f"The key {connection.name!r} of {user.email}. It is not shown again:")
    invocation.output.line(key)
    if user.disabled:
        invocation.output.note(
            f"The account is disabled, so the key works only after: pressroom users enable {user.email}"
        )


@keys.command("list")
@click.argument("email")
@click.option("--revoked", is_flag=True, help="Also list revoked keys.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Maximum number.")
@click.option("--skip", type=click.IntRange(0, 10_000_000), default=0, help="Skip this many of the newest keys.")
@command_options
def list_keys(invocation: Invocation, email: str, revoked: bool, limit: int, skip: int) -> None:
    """List the API keys of an account, newest first. The keys themselves cannot be shown."""

    async def find(accounts: AccountServices) -> Sequence[Connection]:
        user = await account_of(accounts, email)
        return await accounts.connections.list(user.id, kind="api_key", revoked=revoked, limit=limit + 1, offset=skip)

    keys = with_accounts(invocation, find)
    has_more, keys = len(keys) > limit, keys[:limit]
    if invocation.json:
        invocation.output.data({"keys": [as_data(key) for key in keys], "next": skip + limit if has_more else None})
        return
    if not keys:
        none = f"{email} has no API key; create one with `pressroom keys create`."
        invocation.output.line(f"{email} has no more API keys." if skip else none)
        return
    rows = [(key.id, key.name, f"…{key.hint}", key.access, _state(key), _last_use(key)) for key in keys]
    invocation.output.table(["Id", "Name", "Ends with", "Access", "State", "Last used"], rows)
    if has_more:
        invocation.output.note(f"There are more: --skip {skip + limit}")


@keys.command()
@click.argument("id_", metavar="ID")
@command_options
def revoke(invocation: Invocation, id_: str) -> None:
    """Revoke a key by the ID that `list` shows. A running server stops accepting it within seconds."""

    async def end(accounts: AccountServices) -> Connection:
        try:
            user_id = await accounts.connections.owner(id_)
        except NotFound:
            hint = "`pressroom keys list EMAIL` shows them"
            raise NotFound(f"there is no key with the id {id_}", hint=hint) from None
        await accounts.connections.revoke(user_id, id_)
        return await accounts.connections.get(user_id, id_)

    connection = with_accounts(invocation, end)
    if invocation.json:
        invocation.output.data(as_data(connection))
    else:
        invocation.output.line(f"The key {connection.name!r} is revoked; a running server rejects it within 5 s.")


def _check_toolsets(names: Iterable[str], catalog: Catalog) -> None:
    """Check that the tools of active plugins have these toolsets. Raises `InvalidInput`."""
    from pressroom.sdk.declaration import CORE  # noqa: PLC0415 - only where a key is made
    from pressroom.validation.echo import nearest  # noqa: PLC0415

    known = sorted({CORE}.union(*(tool.info.toolsets for tool in catalog.mcp_tools.values())))
    for name in sorted(set(names).difference(known)):
        similar = nearest(name, known)
        suggestion = f"did you mean {similar}?" if similar else f"there are {', '.join(known)}"
        raise InvalidInput("toolsets", f"there is no toolset {name!r}; {suggestion}")


def as_data(connection: Connection) -> dict[str, Any]:
    """Return the metadata of a key as JSON data, without the key itself."""
    return {
        "id": connection.id,
        "name": connection.name,
        "hint": connection.hint,
        "access": connection.access,
        "toolsets": sorted(connection.toolsets) if connection.toolsets is not None else None,
        "createdAt": connection.created_at.isoformat(),
        "lastUsedAt": connection.last_used_at.isoformat() if connection.last_used_at else None,
        "lastUsedAddress": connection.last_used_address,
        "revokedAt": connection.revoked_at.isoformat() if connection.revoked_at else None,
    }


def _state(connection: Connection) -> str:
    return f"revoked {connection.revoked_at:%Y-%m-%d}" if connection.revoked_at else "active"


def _last_use(connection: Connection) -> str:
    if connection.last_used_at is None:
        return "never"
    return f"{connection.last_used_at:%Y-%m-%d %H:%M} UTC from {connection.last_used_address}"
