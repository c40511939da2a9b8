"""Whether this host has the keys that the other hosts of its database write with.

The database keeps a fingerprint of each key in use. It is an HMAC under the key itself, cut to 32 bits: enough to tell
two keys apart, and too little to confirm a guess.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from pressroom.errors import BackendError, NotFound, PressroomError
from pressroom.gate import PluginFailed
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.contributions import Contribution
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import SharedKeys
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import KeyFingerprintRow
from pressroom.validation.echo import nearest

log = structlog.get_logger()

_DIGITS: Final = 8
_PURPOSE: Final = "pressroom fingerprint of "


def fingerprint(name: str, key: bytes) -> str:
    """Return what the database keeps of a key."""
    return hmac.digest(key, f"{_PURPOSE}{name}".encode(), "sha256").hex()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class KeyState:
    """The keys of one setting, on this host and in the database.

    `own` are the fingerprints of this host's keys, the one that writes first. `recorded` is the one in the database,
    empty if absent yet. `unreadable` is the number of rows that none of the keys opens.
    """

    plugin: str
    keys: SharedKeys
    database: SqlDatabase
    own: tuple[str, ...]
    recorded: str
    unreadable: int

    @property
    def differs(self) -> bool:
        """Whether the database is used with a key that this host does not have."""
        return bool(self.recorded) and self.recorded not in self.own

    @property
    def fits(self) -> bool:
        """Whether this host can read what the others wrote, as far as the database tells."""
        return not self.differs and (bool(self.recorded) or not self.unreadable)

    @property
    def problem(self) -> str:
        """What is wrong, empty where nothing is."""
        name, database = self.keys.name, self.database.name
        if self.differs:
            return (
                f"{name} does not include the key that {database} is used with "
                f"(fingerprint {self.recorded}, this host has {', '.join(self.own)})"
            )
        if self.unreadable:
            return f"{name} cannot decrypt {self.unreadable} of the {self.keys.rows} in {database}"
        return ""

    @property
    def advice(self) -> str:
        """What the operator can do about the problem."""
        own = "" if self.keys.configured else "; it is not set here, so this host made a key of its own"
        if not self.fits:
            return (
                f"set the same {self.keys.setting} on every host{own}. To replace the key for good, stop all hosts and "
                f"run `pressroom secrets accept {self.keys.name}`: {self.keys.lost}"
            )
        return f"add the key that encrypted them to {self.keys.setting}; without it, {self.keys.lost}"


async def key_state(database: SqlDatabase, contribution: Contribution[SharedKeys]) -> KeyState:
    """Compare the keys of this host with what the database knows of them.

    Raises `BackendError` where the database fails, and whatever the plugin raises.
    """
    keys = contribution.record
    own = tuple(dict.fromkeys(fingerprint(keys.name, key) for key in keys.read()))
    async with database.reading() as session:
        wanted = select(KeyFingerprintRow.fingerprint).where(KeyFingerprintRow.name == keys.name)
        recorded = await session.scalar(wanted) or ""
        unreadable = await keys.unreadable(session) if keys.unreadable is not None else 0
    return KeyState(contribution.plugin, keys, database, own, recorded, unreadable)


async def check_keys(compiled: LoadedApp, database: SqlDatabase) -> None:
    """Record the keys of this host, or refuse to start with keys that do not fit those of other hosts.

    An embedded database has no other hosts: a new key is recorded there, and the log says what it ends.

    Raises:
        BackendError: the keys do not fit, or cannot be read; the database failed.
    """
    for contribution in compiled.plugins.contributions.of(SharedKeys):
        # A plugin that fell out took its contributions along.
        if contribution not in compiled.plugins.contributions.of(SharedKeys):
            continue
        try:
            await _check(database, contribution)
        except PluginFailed as failure:
            compiled.drop(contribution.plugin, failure)
        except PressroomError as error:
            if contribution.plugin == HOST_ID or not database.embedded:
                raise
            log.warning("keys cannot be checked", name=contribution.record.name, error=error.message, hint=error.hint)


async def _check(database: SqlDatabase, contribution: Contribution[SharedKeys]) -> None:
    state = await key_state(database, contribution)
    if not state.recorded and (state.fits or database.embedded):
        await _record(state)
        # Another host may have recorded its key at the same moment.
        state = await key_state(database, contribution)
    if not state.fits and not database.embedded:
        raise BackendError(state.problem, hint=state.advice)
    if state.problem:
        log.warning("a key does not fit", name=state.keys.name, problem=state.problem, lost=state.keys.lost)
    if state.recorded != state.own[0]:
        await _record(state)


async def accept_keys(compiled: LoadedApp, database: SqlDatabase, name: str) -> KeyState:
    """Record the key of this host in place of the one in the database, and return the state before.

    Raises:
        NotFound: there are no such keys.
        BackendError: the database failed.
    """
    found = {one.record.name: one for one in compiled.plugins.contributions.of(SharedKeys)}
    if name not in found:
        similar = nearest(name, found)
        hint = f"did you mean {similar!r}?" if similar else f"known are {', '.join(sorted(found))}"
        raise NotFound(f"there are no keys {name!r}", hint=hint)
    state = await key_state(database, found[name])
    await _record(state)
    return state


async def key_states(compiled: LoadedApp, database: SqlDatabase) -> Sequence[KeyState]:
    """Return the state of all keys, the host's first."""
    contributions = compiled.plugins.contributions.of(SharedKeys)
    return [await key_state(database, one) for one in contributions]


async def _record(state: KeyState) -> None:
    """Record the key that this host writes with, unless another host was faster."""
    values: dict[str, Any] = {"fingerprint": state.own[0], "recorded_at": datetime.now(UTC)}
    try:
        async with state.database.writing() as session:
            if state.recorded:
                same = (KeyFingerprintRow.name == state.keys.name, KeyFingerprintRow.fingerprint == state.recorded)
                await session.execute(update(KeyFingerprintRow).where(*same).values(values))
            else:
                session.add(KeyFingerprintRow(name=state.keys.name, **values))
    except IntegrityError:
        return
