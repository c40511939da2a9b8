"""Load the plugins and compile the catalog for commands that inspect them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from pressroom.cli.options import Invocation
from pressroom.cli.output import Output
from pressroom.host.collector import collector_paused

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp


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


def tell_safe_mode(output: Output, loaded: LoadedApp) -> None:
    """In safe mode, report which plugins were left out."""
    if loaded.settings.safe_mode:
        output.note(f"Safe mode: only built-in plugins are loaded. Left out: {', '.join(left_out(loaded)) or 'none'}.")


def left_out(loaded: LoadedApp) -> list[str]:
    """Return the IDs of the plugins left out only because of safe mode."""
    from pressroom.plugins.select import SAFE_MODE  # noqa: PLC0415 - pydantic

    return [record.id for record in loaded.plugins.records if record.error == SAFE_MODE]
