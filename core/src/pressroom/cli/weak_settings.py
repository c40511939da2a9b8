"""Warnings of `pressroom doctor` about settings that weaken the secure defaults."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from pressroom.config import Settings
from pressroom.plugins.folder import writable_by_others
from pressroom.plugins.permissions import changeable
from pressroom.plugins.template_folder import MAX_FILES
from pressroom.sdk import CheckResult

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def weaknesses(settings: Settings) -> Iterator[CheckResult]:
    """Yield a warning for each setting that weakens a secure default, and for safe mode."""
    yield from _of_addresses(settings)
    yield from _of_bounds(settings)
    yield from _of_clients(settings)
    yield from _of_plugins_dir(settings)
    yield from _of_pages(settings)
    if settings.safe_mode:
        yield CheckResult(
            "warning",
            "safe mode is on: only built-in plugins are loaded",
            "start without --safe-mode, or remove safe_mode, once the others work",
        )


def _of_addresses(settings: Settings) -> Iterator[CheckResult]:
    server = settings.server
    public = urlsplit(settings.base_url or "")
    is_public = bool(public.hostname) and public.hostname not in _LOOPBACK
    if is_public and public.scheme == "http":
        yield CheckResult(
            "warning",
            f"base_url is {settings.base_url}: passwords, keys and tokens travel in the clear",
            "put a proxy with TLS in front, and set base_url to its https URL",
        )
    if is_public and server.host in _LOOPBACK and not (server.trusted_proxies or server.forwarded_secret):
        yield CheckResult(
            "warning",
            "a proxy seems to be in front, but none is trusted: all clients share one IP address, and its limits",
            "set [server] trusted_proxies to the number of proxies, or forwarded_secret",
        )
    if settings.fetch.private_networks:
        networks = ", ".join(map(str, settings.fetch.private_networks))
        yield CheckResult(
            "warning",
            f"everybody who can enter a URL can make the server fetch URLs in {networks}",
            "leave [fetch] private_networks empty, unless only people whom you trust have accounts",
        )


def _of_bounds(settings: Settings) -> Iterator[CheckResult]:
    bounds = {
        "[limits] anonymous_concurrency": settings.limits.anonymous_concurrency,
        "[server] connections_per_client": settings.server.connections_per_client,
    }
    for name, bound in bounds.items():
        if bound == 0:
            message = f"{name} is 0: one client can use up the whole server"
            yield CheckResult(
                "warning", message, "remove the setting, or set the number that one well-behaved client needs"
            )
    if settings.fetch.anonymous_bytes == 0:
        yield CheckResult(
            "warning",
            "[fetch] anonymous_bytes is 0: images for callers without an account can fill the memory",
            "remove the setting, or set what the machine can spare",
        )
    if settings.storage.max_total_bytes == 0 and settings.storage.files == "local":
        yield CheckResult(
            "warning",
            "[storage] max_total_bytes is 0: generated files can fill the disk",
            "remove the setting, or set what the disk can spare",
        )
    for name, plan in settings.plans.items():
        if plan.storage == 0:
            yield CheckResult(
                "warning",
                f"the plan {name} has no storage limit: one account can fill the disk",
                f"set [plans.{name}] storage",
            )


def _of_clients(settings: Settings) -> Iterator[CheckResult]:
    if settings.oauth.refresh_grace:
        yield CheckResult(
            "warning",
            f"[oauth] refresh_grace is {settings.oauth.refresh_grace:g} s: a refresh token that was stolen works once "
            "more within that time",
            "remove the setting, unless clients lose responses",
        )
    if "*" in settings.mcp.allowed_origins:
        yield CheckResult(
            "warning",
            "[mcp] allowed_origins has *: every web page that somebody opens may call the endpoint from their browser",
            "name the origins that need it",
        )


def _of_plugins_dir(settings: Settings) -> Iterator[CheckResult]:
    for path in writable_by_others(settings.plugins_dir) if settings.plugins_dir else ():
        quoted = shlex.quote(str(path))
        is_parent = settings.plugins_dir is not None and path in settings.plugins_dir.absolute().parents
        yield CheckResult(
            "warning",
            f"other users of this machine may write to {path}: whatever they put there runs with the rights of this "
            "server",
            "move the plugins to a folder above which only root and the server may write"
            if is_parent
            else f"run: chown {os.geteuid()} {quoted} && chmod o-w {quoted}",
        )


def _of_pages(settings: Settings) -> Iterator[CheckResult]:
    branding = settings.branding
    for name, path in (("templates", branding.templates), ("stylesheet", branding.stylesheet)):
        unsafe = list(changeable(_read_with(path), above=path)) if path is not None else []
        if path is None or not unsafe:
            continue
        more = f" and {len(unsafe) - 1} more" if len(unsafe) > 1 else ""
        is_parent = unsafe[0] in path.absolute().parents
        quoted = shlex.quote(str(path))
        yield CheckResult(
            "warning",
            f"[branding] {name}: other users of this machine may write to {unsafe[0]}{more}: what they put there is on "
            "the server's pages, that of the sign-in too",
            f"move {path} to a folder above which only root and the server may write"
            if is_parent
            else f"run: chown -R {os.geteuid()} {quoted} && chmod -R go-w {quoted}",
        )


def _read_with(path: Path) -> Iterator[Path]:
    """Yield a file or folder, and the files in it, up to `MAX_FILES`."""
    yield path
    with suppress(OSError):  # another check reports what cannot be read
        if not path.is_dir():
            return
        yield from islice((child for child in sorted(path.rglob("*")) if not child.is_symlink()), MAX_FILES)
