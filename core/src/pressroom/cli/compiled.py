"""The plugins and the catalog, for commands that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressroom.cli.options import Invocation

if TYPE_CHECKING:
    from pressroom.host import Compiled


def compiled(invocation: Invocation) -> Compiled:
    """Return what the configuration comes to: plugins loaded, catalog compiled, nothing started.

    Raises:
        InvalidConfig: something is wrong with the configuration.
    """
    from pressroom.host import Compiled  # noqa: PLC0415 - loads plugins, which takes time

    loaded = invocation.load_config()
    return Compiled(loaded.settings, loaded.origins)
