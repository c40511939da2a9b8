"""The contracts of branders, observers, index entries, checks, account data, virtual hosts and commands."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

import click

from pressroom.plugins.contributions import shape_problems
from pressroom.sdk import (
    Brander,
    CallRecord,
    Check,
    CheckResult,
    IndexEntries,
    IndexEntry,
    Observer,
    OverviewSection,
    PublishingTargets,
    StorageKind,
    VirtualHosts,
)
from pressroom.sdk.dashboard import ACCOUNT_ROLES
from pressroom.testing.contracts.page import read_html
from pressroom.testing.contracts.records import ANONYMOUS, SOMEBODY, RecordInHost
from pressroom.testing.contracts.suite import ContractSuite, PromiseBroken, describe_error, expect

BRANDER: Final = ContractSuite[RecordInHost[Brander]]("brander")
OBSERVER: Final = ContractSuite[RecordInHost[Observer]]("observer")
INDEX_ENTRIES: Final = ContractSuite[RecordInHost[IndexEntries]]("index provider")
DOCTOR_CHECK: Final = ContractSuite[RecordInHost[Check]]("doctor check")
STORAGE_KIND: Final = ContractSuite[RecordInHost[StorageKind]]("storage kind")
PUBLISHING_TARGETS: Final = ContractSuite[RecordInHost[PublishingTargets]]("publishing targets")
OVERVIEW_SECTION: Final = ContractSuite[RecordInHost[OverviewSection]]("overview section")
VIRTUAL_HOSTS: Final = ContractSuite[RecordInHost[VirtualHosts]]("virtual hosts")
COMMAND: Final = ContractSuite[RecordInHost[click.Command]]("command")

_Index: TypeAlias = RecordInHost[IndexEntries]

_OBSERVER_SECONDS: Final = 30.0
_ENTRIES_SECONDS: Final = 10.0
_MAX_ENTRIES: Final = 10_000
_SECONDS: Final = 20.0
_TARGET_SECONDS: Final = 1.0
_SECTION_SECONDS: Final = 2.0
_HOSTS_SECONDS: Final = 2.0
_HOST_NAME: Final = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]", re.ASCII)
_NOT_FOUND: Final = 404
_NOBODY: Final = "u_of_nobody"
_RECORDS: Final = (
    CallRecord("qr-code-generator", ANONYMOUS, "contract-1", "ok", cached=True, duration=0.01),
    CallRecord("qr-code-generator", SOMEBODY, "contract-2", "validation_error", cached=False, duration=0.01),
    CallRecord("", ANONYMOUS, "contract-3", "not_found", cached=False, duration=0.0, interface="mcp"),
    CallRecord("search", SOMEBODY, "contract-4", "ok", cached=False, duration=2.0, run_duration=1.9, mcp_name="search"),
)


@BRANDER.promise("its block is a JSON object", fix="return a mapping of texts, numbers, lists and mappings")
async def _block(subject: RecordInHost[Brander]) -> None:
    branding = subject.running.host.compiled.branding
    block = await asyncio.to_thread(subject.record.block, branding)
    expect(isinstance(block, Mapping), f"{type(block).__name__}")
    try:
        json.dumps(dict(block), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise PromiseBroken(describe_error(error)) from error
    expect(all(isinstance(key, str) for key in block), "keys that are not text")


@BRANDER.promise(
    "the same branding always results in the same block",
    fix="leave out times, random numbers and counters",
)
async def _same(subject: RecordInHost[Brander]) -> None:
    branding = subject.running.host.compiled.branding
    blocks = [dict(await asyncio.to_thread(subject.record.block, branding)) for _ in range(2)]
    expect(blocks[0] == blocks[1], "two different blocks")


@OBSERVER.promise(
    "it handles every kind of call, including calls without a tool or an account",
    fix="expect an empty tool, an empty subject and run_duration=None; exceptions are only counted",
)
async def _observes(subject: RecordInHost[Observer]) -> None:
    for record in _RECORDS:

        async def observe(record: CallRecord = record) -> None:
            awaitable = subject.record.observe(record)
            if awaitable is not None:
                await awaitable

        await subject.on_host(observe, seconds=_OBSERVER_SECONDS)


@OBSERVER.promise(
    "it never delays the response",
    fix="return at once, and use a coroutine function for anything that waits, such as a request",
)
async def _not_in_the_way(subject: RecordInHost[Observer]) -> None:
    # Run it in a thread, so that a blocking observer only delays this check.
    waiting: list[Awaitable[None]] = []

    def observe() -> None:
        if (awaitable := subject.record.observe(_RECORDS[0])) is not None:
            waiting.append(awaitable)

    if not asyncio.iscoroutinefunction(subject.record.observe):
        task = asyncio.ensure_future(asyncio.to_thread(observe))
        done, _ = await asyncio.wait({task}, timeout=1)
        expect(done, "more than a second in a plain function")
        for awaitable in waiting:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()


@INDEX_ENTRIES.promise(
    "its entries are IndexEntry records with a title, and a URL or a path",
    fix="return IndexEntry(title, url); the URL begins with https://, http:// or /",
)
async def _entries(subject: _Index) -> None:
    for entry in await _read(subject):
        expect(isinstance(entry, IndexEntry), f"{entry!r}")
        problems = list(shape_problems(entry))
        expect(not problems, "; ".join(problems))
        expect(entry.title.strip(), f"no title for {entry.url}")
        expect(entry.url.startswith(("https://", "http://", "/")), f"the URL {entry.url!r}")


@INDEX_ENTRIES.promise(
    "it ends in time, with a limited number of entries",
    fix=f"return at most {_MAX_ENTRIES:,} entries within {_ENTRIES_SECONDS:g} seconds; provide long texts with read=",
)
async def _bounded(subject: _Index) -> None:
    count = len(await _read(subject))
    expect(count <= _MAX_ENTRIES, f"{count:,} entries")


@INDEX_ENTRIES.promise("what read returns is text", fix="let read be an async function that returns str")
async def _texts(subject: _Index) -> None:
    for entry in (await _read(subject))[:20]:
        if entry.read is not None:
            text: Any = await subject.on_host(entry.read, seconds=_ENTRIES_SECONDS)
            expect(isinstance(text, str), f"{type(text).__name__} for {entry.title!r}")


@INDEX_ENTRIES.promise("/llms.txt shows its section", fix="see the log for 'index entries failed'")
async def _shown(subject: _Index) -> None:
    if await _read(subject):
        text = (await subject.http.get("/llms.txt")).text
        expect(f"## {subject.record.section}" in text, f"no section {subject.record.section!r}")


async def _read(subject: _Index) -> list[IndexEntry]:
    return list(await subject.on_host(subject.record.entries, seconds=_ENTRIES_SECONDS))


@DOCTOR_CHECK.promise(
    "it returns a CheckResult, with a hint if something is wrong",
    fix="return CheckResult(status, message, hint=…); do not raise an exception for a problem that it finds",
)
async def _checks(subject: RecordInHost[Check]) -> None:
    result = await subject.on_host(subject.record.run, seconds=_SECONDS)
    expect(type(result) is CheckResult and result.message.strip(), repr(result))
    expect(result.status == "ok" or result.hint.strip(), f"{result.status} {result.message!r} without a hint")


@STORAGE_KIND.promise(
    "an account that stores nothing has 0 bytes", fix="let measure return 0 for an account without rows, not None"
)
async def _measures(subject: RecordInHost[StorageKind]) -> None:
    async def measure() -> Any:
        async with subject.running.host.database.reading() as session:
            return await subject.record.measure(session, _NOBODY)

    size = await subject.on_host(measure, seconds=_SECONDS)
    expect(type(size) is int and size == 0, repr(size))


@PUBLISHING_TARGETS.promise(
    "an account without websites has no names, within a second", fix="return an empty list for an unknown account"
)
async def _names(subject: RecordInHost[PublishingTargets]) -> None:
    names = list(await subject.on_host(lambda: subject.record.names(_NOBODY), seconds=_TARGET_SECONDS))
    expect(names == [], names)


@OVERVIEW_SECTION.promise(
    "an account that has nothing gets sound HTML without forms, or none, within two seconds",
    fix="return an empty text for an unknown account, close each element, and link to a page that has the form",
)
async def _section(subject: RecordInHost[OverviewSection]) -> None:
    for role in ACCOUNT_ROLES if subject.record.by_role else ("",):
        ask = partial(subject.record.html, _NOBODY, *filter(None, [role]))
        problems, forms = read_html(await subject.on_host(ask, seconds=_SECTION_SECONDS))
        expect(not problems and not forms, "; ".join(problems[:3]) or "a form")


@VIRTUAL_HOSTS.promise(
    "its names are full host names in lower case, without a port, within two seconds",
    fix="return names such as blog.example.org; international ones in their ASCII form",
)
async def _host_names(subject: RecordInHost[VirtualHosts]) -> None:
    names = list(await subject.on_host(subject.record.hosts, seconds=_HOSTS_SECONDS))
    invalid = [name for name in names if not _HOST_NAME.fullmatch(str(name))]
    expect(not invalid, invalid[:3])


@VIRTUAL_HOSTS.promise(
    "a page that does not exist returns 404 on each name, and sets no cookie",
    fix="raise NotFound, or return HttpResponse(…, 404); sign people in under the server's own name only",
)
async def _not_there(subject: RecordInHost[VirtualHosts]) -> None:
    for name in list(await subject.on_host(subject.record.hosts, seconds=_HOSTS_SECONDS))[:5]:
        response = await subject.http.get("/pressroom-contract/nothing/is/here", headers={"host": name})
        expect(
            response.status_code == _NOT_FOUND and "set-cookie" not in response.headers,
            f"{response.status_code} on {name}",
        )


@COMMAND.promise("it has a help text", fix="give the function a docstring, or the command help=…")
async def _help(subject: RecordInHost[click.Command]) -> None:
    expect((subject.record.help or "").strip(), "none")
