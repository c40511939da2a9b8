"""`pressroom secrets`: compare this host's keys with those recorded in its database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE

if TYPE_CHECKING:
    from pressroom.host.stores import KeyState


@click.group(cls=LazyGroup)
@common_options
def secrets() -> None:
    """Compare the keys of this host with those in use with its database."""


@secrets.command("list")
@command_options
def list_secrets(invocation: Invocation) -> int:
    """List the keys with their fingerprints. The exit code is 1 if one does not match.

    A fingerprint identifies a key without revealing it.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    states = asyncio.run(_states(invocation))
    if invocation.json:
        invocation.output.data(
            {"ok": all(state.fits for state in states), "keys": [_as_data(state) for state in states]}
        )
    else:
        rows = [
            (state.keys.name, ", ".join(state.own), state.recorded or "none yet", "fits" if state.fits else "DIFFERS")
            for state in states
        ]
        invocation.output.table(["Key", "This host", "Database", "Status"], rows)
        for state in states:
            if state.problem:
                invocation.output.problem(state.problem, hint=state.advice)
    return FINE if all(state.fits for state in states) else EXIT_PROBLEMS


@secrets.command()
@click.argument("name")
@command_options
def accept(invocation: Invocation, name: str) -> None:
    """Use the database with this host's key NAME, such as secret_key, from now on.

    Stop all hosts first: those that run with another key do not notice. What the old key signed or encrypted is lost
    unless the new keys include it.
    """
    import asyncio  # noqa: PLC0415 - as above

    previous = asyncio.run(_accept(invocation, name))
    if invocation.json:
        invocation.output.data({**_as_data(previous), "recorded": previous.own[0], "fits": True})
    elif previous.recorded == previous.own[0]:
        invocation.output.line(f"The database is used with this {name} already.")
    else:
        invocation.output.line(f"The database is used with the {name} of this host now, fingerprint {previous.own[0]}.")
        if not previous.fits:
            invocation.output.note(f"With the old key gone, {previous.keys.lost}.")


async def _states(invocation: Invocation) -> Sequence[KeyState]:
    from pressroom.cli.loading import open_accounts  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.host.stores import key_states  # noqa: PLC0415

    async with open_accounts(invocation) as (compiled, database, _):
        return await key_states(compiled, database)


async def _accept(invocation: Invocation, name: str) -> KeyState:
    from pressroom.cli.loading import open_accounts  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.host.stores import accept_keys  # noqa: PLC0415

    async with open_accounts(invocation) as (compiled, database, _):
        return await accept_keys(compiled, database, name)


def _as_data(state: KeyState) -> dict[str, object]:
    return {
        "name": state.keys.name,
        "setting": state.keys.setting,
        "own": list(state.own),
        "recorded": state.recorded,
        "unreadable": state.unreadable,
        "fits": state.fits,
    }
