"""`pressroom clients`: manage registered OAuth clients."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.loading import open_accounts
from pressroom.cli.options import Invocation, command_options, common_options

if TYPE_CHECKING:
    from pressroom.oauth.clients import ClientSummary


@click.group(cls=LazyGroup)
@common_options
def clients() -> None:
    """List and remove OAuth clients."""


@clients.command("list")
@command_options
def list_clients(invocation: Invocation) -> None:
    """List the clients, the most recently approved or registered first.

    What a client says about itself is not verified.
    """
    clients = asyncio.run(_list(invocation))
    if invocation.json:
        invocation.output.data({"clients": [_as_data(client) for client in clients]})
    elif not clients:
        invocation.output.line("No client is registered.")
    else:
        rows = [
            (
                client.id,
                client.name,
                ", ".join(client.redirect_uris),
                client.connections,
                f"{client.last_approved_at:%Y-%m-%d}" if client.last_approved_at else "never",
            )
            for client in clients
        ]
        invocation.output.table(["Client", "Name", "Redirects to", "Connections", "Last approved"], rows)


@clients.command()
@click.argument("client")
@command_options
def revoke(invocation: Invocation, client: str) -> None:
    """Remove a client and its approvals.

    Access tokens stop working within the seconds of `[auth] cache`. The client may register again.
    """
    count = asyncio.run(_revoke(invocation, client))
    if invocation.json:
        invocation.output.data({"client": client, "connections": count})
    else:
        connections = "1 connection" if count == 1 else f"{count} connections"
        invocation.output.line(f"Removed {client}; {connections} ended.")


async def _list(invocation: Invocation) -> Sequence[ClientSummary]:
    from pressroom.oauth.clients import Clients  # noqa: PLC0415 - loads SQLAlchemy, which takes time

    async with open_accounts(invocation) as (compiled, database, _):
        return await Clients(database, compiled.settings.oauth.unused_client_lifetime).list()


async def _revoke(invocation: Invocation, client: str) -> int:
    from pressroom.oauth.clients import Clients  # noqa: PLC0415

    async with open_accounts(invocation) as (compiled, database, _):
        return await Clients(database, compiled.settings.oauth.unused_client_lifetime).revoke(client)


def _as_data(client: ClientSummary) -> dict[str, object]:
    return {
        "client": client.id,
        "name": client.name,
        "redirectUris": list(client.redirect_uris),
        "authMethod": client.auth_method,
        "registeredAt": client.created_at.isoformat(),
        "lastApprovedAt": client.last_approved_at.isoformat() if client.last_approved_at else None,
        "connections": client.connections,
    }
