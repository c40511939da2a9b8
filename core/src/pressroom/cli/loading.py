"""The plugins and the catalog, for commands that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressroom.cli.options import Invocation

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp


def compiled(invocation: Invocation) -> LoadedApp:
    """Return what the configuration comes to: plugins loaded, catalog compiled, nothing started.

    Raises:
        InvalidConfig: something is wrong with the configuration.
    """
    from pressroom.host.loaded_app import LoadedApp  # noqa: PLC0415 - loads plugins, which takes time
    from pressroom.observability.logs import configure_logging  # noqa: PLC0415

    loaded = invocation.load_config()
    configure_logging(loaded.settings.logging)  # to standard error, away from the command's result
    app = LoadedApp(loaded.settings, loaded.origins)
    app.gate.logs = False
    return app
