"""Plugins and the catalog that they came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog

from pressroom.accounts.records import PlanSummary
from pressroom.catalog.compile import RuleFailed, compile_catalog
from pressroom.catalog.reserved_paths import host_path_taken
from pressroom.catalog.tool import Catalog
from pressroom.config import Origins, Settings
from pressroom.errors import BackendError, ConfigError, PluginError, PressroomError
from pressroom.plugins.load import LoadedPlugins, load_plugins
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import (
    Authenticator,
    Backend,
    Brander,
    Branding,
    CacheIndex,
    FileStore,
    Limiter,
    Models,
    Route,
    StorageKind,
)
from pressroom.sdk.shared import BackendKind
from pressroom.validation.echo import nearest

if TYPE_CHECKING:
    from pressroom.storage.database import Migrator, SqlDatabase

log = structlog.get_logger()

_ANOTHER_BRANDER: Final = "name another as [branding] brander, or report it to the plugin's authors"

_PROTOCOLS: Final[Mapping[BackendKind, type[Any]]] = {"files": FileStore, "cache": CacheIndex, "limits": Limiter}


class LoadedApp:
    """Plugins and the catalog that they came to; enough for commands that serve nothing.

    `schema_mismatches` holds, for plugins that were dropped because their tables are those of another version, the
    revision in the database and the one that this version needs.
    """

    def __init__(self, settings: Settings, origins: Origins | None = None) -> None:
        self.settings = settings
        self.plugins: LoadedPlugins = _without_taken_paths(load_plugins(settings, origins))
        self.catalog = self._compile()
        self.branding = branding(settings)
        self.schema_mismatches: dict[str, tuple[str, str]] = {}

    def drop(self, plugin: str, error: BaseException) -> None:
        """Take out a plugin that failed after it was loaded, and compile the rest again."""
        log.error("a plugin failed while the server started", plugin=plugin, error=f"{type(error).__name__}: {error}")
        self.plugins = self.plugins.without(plugin, "lifespan", error)
        self.catalog = self._compile()

    def plan_summary(self, plan: str) -> PlanSummary:
        """Return what accounts on a plan are told of it."""
        return self.catalog.summary(plan)

    def storage_kinds(self) -> Sequence[StorageKind]:
        """Return what the active plugins store for accounts."""
        return [one.record for one in self.plugins.contributions.of(StorageKind)]

    def brand_block(self) -> Mapping[str, Any]:
        """Return the promotional block of the brander that the operator named.

        Raises:
            ConfigError: no active plugin offers that brander.
            PluginError: it failed, or made something that is not a JSON object.
        """
        name = self.settings.branding.brander
        branders = {one.record.name: one.record for one in self.plugins.contributions.of(Brander)}
        if name not in branders:
            raise _unknown("branding.brander", name, branders)
        try:
            block = dict(branders[name].block(self.branding))
            orjson.dumps(block)
        except Exception as error:
            raise PluginError(f"the brander {name!r} failed: {_shown(error)}", hint=_ANOTHER_BRANDER) from error
        return block

    def backend(self, kind: BackendKind, name: str, key: str) -> Any:
        """Return a new instance of the backend that the operator named under the configuration's `key`.

        Raises:
            ConfigError: no active plugin offers that backend.
            BackendError: it cannot be made, or lacks a method of its protocol.
        """
        backends = {
            one.record.name: one.record for one in self.plugins.contributions.of(Backend) if one.record.kind == kind
        }
        if name not in backends:
            raise _unknown(key, name, backends)
        with backend_failures(kind, name):
            made = backends[name].factory(self.settings)
        protocol = _PROTOCOLS.get(kind)
        if protocol is not None and not isinstance(made, protocol):
            raise BackendError(f"the {kind} backend {name!r} is no {protocol.__name__}: {type(made).__name__}")
        return made

    def models(self) -> list[tuple[str, Models]]:
        """Return the tables of the host, then of each plugin, as pairs of plugin id and contribution."""
        from pressroom.storage.database.tables import HOST_MODELS  # noqa: PLC0415 - SQLAlchemy, which most commands do without

        pairs = [(one.plugin, one.record) for one in self.plugins.contributions.of(Models)]
        return [(HOST_ID, HOST_MODELS), *sorted(pairs, key=itemgetter(0))]

    def migrator(self, database: SqlDatabase) -> Migrator:
        """Return what brings the schema of the host, then of each plugin, up to date."""
        from pressroom.storage.database import Migrator  # noqa: PLC0415 - SQLAlchemy, which most commands do without

        return Migrator(database, self.models())

    def authenticators(self) -> tuple[Authenticator, ...]:
        """Return the authenticators in the order in which they are asked.

        Raises:
            ConfigError: no active plugin offers one that the operator named.
        """
        found = {one.record.name: one.record for one in self.plugins.contributions.of(Authenticator)}
        named = self.settings.auth.authenticators
        for name in named:
            if name not in found:
                raise _unknown("auth.authenticators", name, found)
        return tuple(found[name] for name in (*named, *sorted(found.keys() - set(named))))

    def _compile(self) -> Catalog:
        while True:
            try:
                return compile_catalog(self.plugins.contributions, self.plugins.contexts, self.settings)
            except RuleFailed as failure:
                if failure.plugin not in {record.id for record in self.plugins.records}:
                    raise failure.error from None
                self.plugins = self.plugins.without(failure.plugin, "validate", failure.error)


@contextmanager
def backend_failures(kind: BackendKind, name: str) -> Iterator[None]:
    """Say which backend it was that raised something of its own."""
    try:
        yield
    except PressroomError:
        raise
    except Exception as error:
        raise BackendError(f"the {kind} backend {name!r} failed: {_shown(error)}") from error


def _without_taken_paths(plugins: LoadedPlugins) -> LoadedPlugins:
    """Take out the plugins with a route that would stand in for one of the host's own."""
    for contribution in plugins.contributions.of(Route):
        path = contribution.record.path
        taken = host_path_taken(path)
        if taken is not None and contribution in plugins.contributions.of(Route):
            own = taken if taken == path else f"{path}, as a part of {taken},"
            plugins = plugins.without(
                contribution.plugin, "validate", ConfigError(f"the path {own} is served by the host itself")
            )
    return plugins


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def branding(settings: Settings) -> Branding:
    """Return the operator's branding, with what was left out filled in."""
    own, base_url = settings.branding, settings.public_url
    return Branding(
        key=own.key,
        name=own.name,
        tagline=own.tagline,
        url=own.url or base_url,
        mcp_url=f"{base_url}/api/mcp",
        docs_url=own.docs_url or f"{base_url}/tools",
        accent=own.accent,
        accent_dark=own.accent_dark,
        logo_url=own.logo_url,
    )


def _unknown(key: str, name: str, known: Mapping[str, object]) -> ConfigError:
    similar = nearest(name, known)
    return ConfigError(
        f"{key}: there is no {name!r}",
        hint=f"did you mean {similar!r}?" if similar else f"known are {', '.join(sorted(known)) or 'none'}",
    )
