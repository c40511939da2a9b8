"""A connector's codec that misbehaves on demand, also in the worker process that it is sent to."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class HostileCodec:
    """A codec that calls `does` for each operation, and `travels` when it is pickled."""

    def __init__(self, does: Callable[[], Any], travels: Callable[[], Any] | None = None) -> None:
        self.does = does
        self.travels = travels

    def __reduce__(self) -> tuple[Any, ...]:
        """Call `travels`, and pickle only `does`."""
        if self.travels is not None:
            self.travels()
        return HostileCodec, (self.does,)

    def split(self, raw: str) -> Any:
        """See `BodyCodec`."""
        return self.does()

    def join(self, sources: Any, original: str = "") -> Any:
        """See `BodyCodec`."""
        return self.does()

    def encode(self, html: str, markdown: str) -> Any:
        """See `BodyCodec`."""
        return self.does()


def split_with(codec: Any) -> Any:
    """Split a body, as the function that runs in a worker process does."""
    return codec.split("<p>a</p>")


def join_with(codec: Any) -> Any:
    """Join a body."""
    return codec.join(["<p>a</p>"])


def encode_with(codec: Any) -> Any:
    """Encode a piece of text."""
    return codec.encode("<p>a</p>", "a")


def blocks() -> None:
    """Sleep for longer than any timeout."""
    time.sleep(60)


def swallows() -> None:
    """Swallow the interruption."""
    try:
        time.sleep(60)
    except BaseException:  # noqa: BLE001 - as bad as a connector may be
        return


def turns_into_another() -> None:
    """Raise a different error on interruption."""
    try:
        time.sleep(60)
    except BaseException as error:
        raise ValueError("secret-token") from error


def spins() -> None:
    """Loop for ever."""
    while True:
        pass


def raises() -> None:
    """Raise an error."""
    raise LookupError("the codec is broken")


def exits() -> None:
    """Raise `SystemExit`."""
    raise SystemExit(3)
