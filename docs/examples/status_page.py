"""A page for people, an observer, an entry of the text index and a check of the doctor, around one number."""

from __future__ import annotations

from collections import Counter
from html import escape

from pressroom.sdk import (
    CallRecord,
    Check,
    CheckResult,
    HttpRequest,
    HttpResponse,
    IndexEntries,
    IndexEntry,
    Observer,
    Plugin,
    Route,
    hookimpl,
)

PLUGIN = Plugin(id="status_page", api="1", title="Status page", summary="Shows how many calls each tool has had.")

CALLS: Counter[str] = Counter()
"""Calls by tool since the server started."""


def count(record: CallRecord) -> None:
    """Count a call that was answered; the answer does not wait for more than this."""
    if record.code == "ok":
        CALLS[record.tool] += 1


async def page(request: HttpRequest) -> HttpResponse:
    """Return the page `/status`."""
    rows = "".join(f"<tr><td>{escape(tool)}</td><td>{calls}</td></tr>" for tool, calls in sorted(CALLS.items()))
    body = f"<!doctype html><html lang=en><title>Status</title><h1>Status</h1><table>{rows}</table></html>"
    return HttpResponse(body.encode())


async def entries() -> list[IndexEntry]:
    """Return the entry of `/llms.txt`."""
    return [IndexEntry("Status", "/status", "how many calls each tool has had")]


async def check() -> CheckResult:
    """Return a row of `pressroom doctor`."""
    return CheckResult("ok", "the page is at /status")


@hookimpl
def pressroom_observers() -> list[Observer]:
    """Watch calls."""
    return [Observer("status page", count)]


@hookimpl
def pressroom_routes() -> list[Route]:
    """Serve the page."""
    return [Route("/status", page)]


@hookimpl
def pressroom_index_entries() -> list[IndexEntries]:
    """Add to the text index."""
    return [IndexEntries("Operations", entries)]


@hookimpl
def pressroom_checks() -> list[Check]:
    """Add to the doctor."""
    return [Check("status page", check)]
