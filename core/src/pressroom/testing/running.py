"""A host that runs in a thread next to a test, on its own port.

To avoid repeated migrations, its database is a copy of one that the same migrations created earlier in this process.
"""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import socket
import sys
import threading
from collections.abc import Coroutine, Mapping, MutableMapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import structlog
from pydantic import BaseModel
from sanic.compat import Header
from structlog.testing import capture_logs

from pressroom.config import Settings
from pressroom.errors import CallError, InternalError
from pressroom.gate.failures import one_line
from pressroom.host.collector import collector_paused
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.observability.secrets import mask_secrets
from pressroom.pipeline.context import CallRequest, ReceivedCall, RefusedCall, StoredResult
from pressroom.pipeline.stages.respond import file_data
from pressroom.plugins.discovery import PluginRecord
from pressroom.sdk import JobStatus, ToolResult
from pressroom.server.listening import bind
from pressroom.server.serve import serve
from pressroom.testing.accounts import HostAccount
from pressroom.testing.databases import make_database

T = TypeVar("T")

START_SECONDS: Final = 60
STOP_SECONDS: Final = 30
"""How many seconds a host may take to stop, in addition to its settings' time for calls in flight."""

_TESTER: Final = "tester@example.org"
_JOB_PAUSE: Final = 0.02
"""Seconds between checks of a job's status."""


class ToolFailed(AssertionError):
    """A tool refused a call, or failed. `code` is the stable error code, `message` the message to the caller.

    The text of the exception also contains the reason for a failure, which callers do not see.
    """

    def __init__(self, error: CallError, module: str = "") -> None:
        reason = error.__cause__ if isinstance(error, InternalError) else None
        super().__init__(f"{error.code}: {error.message}" + (f" — {one_line(reason, module)}" if reason else ""))
        self.code = error.code
        self.message = error.message


class RunningHost:
    """A server on 127.0.0.1, with its event loop in its own thread. Use it as a context manager.

    `settings` are the host's settings; while it runs, they include its URL with a free port. `host` is the running host
    with its plugins, catalog and services. Entering raises the exception that keeps the host from starting, and exiting
    raises the one that made it fail.

    If the database does not exist yet, it is copied from one that the same migrations created earlier in this process.
    """

    host: Host
    settings: Settings

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self._accounts: dict[str, HostAccount] = {}
        self._account_lock = threading.Lock()

    def __enter__(self) -> Self:
        _log_briefly()
        server = self.settings.server.model_copy(update={"host": "127.0.0.1", "port": 0})
        listener, self.settings = bind(self.settings.model_copy(update={"server": server}))
        started: Future[Host] = Future()
        self._thread = threading.Thread(
            target=self._serve, args=(listener, started), name="pressroom-host", daemon=True
        )
        try:
            with collector_paused():
                self._thread.start()
                self.host = started.result(START_SECONDS)
        except BaseException:
            self._end()
            raise
        _freeze_modules()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()
        failure, self._failure = self._failure, None
        if failure is not None and error is None:
            raise failure

    @property
    def url(self) -> str:
        """The server's URL, without a trailing slash."""
        return f"http://127.0.0.1:{self.settings.server.port}"

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the host's event loop and return its result.

        Raises:
            RuntimeError: the host is not running.
        """
        return self.submit(coroutine).result()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the host's event loop and return its future, without waiting for it.

        Raises:
            RuntimeError: the host is not running.
        """
        if self._loop is None:
            coroutine.close()
            raise RuntimeError("the host is not running; use it in a `with` statement")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, account: HostAccount | None = None
    ) -> Any:
        """Call a tool by its MCP name, through the whole pipeline, as an AI client would.

        The caller is `account`, or a default account on the plan `accounts.default_plan`. It uses an API key.

        Returns:
            The tool's data as plain values; for a generator, the `data` of its HTTP response.

        Raises:
            ToolFailed: the tool refused the call, or failed.
        """
        request = CallRequest(name, dict(arguments or {}), "test-call", "mcp")
        headers = Header({"Authorization": f"Bearer {(account or self.account()).api_key()}"})
        outcome = self.run(self.host.pipeline(ReceivedCall(request, "127.0.0.1", headers)))
        if isinstance(outcome, RefusedCall):
            raise ToolFailed(outcome.error, self._module_of(name)) from outcome.error
        return file_data(outcome, outcome.file) if outcome.file is not None else _plain(outcome.result)

    def _module_of(self, tool: str) -> str:
        entry = self.host.compiled.catalog.mcp_tools.get(tool)
        records = self.host.compiled.plugins.records
        return next((record.module for record in records if entry and record.id == entry.info.plugin), "")

    def account(self, email: str = _TESTER, *, name: str = "Tester") -> HostAccount:
        """Return an account of the host by its e-mail address. The account is created when it is first used.

        The default is the account that `call_tool` uses. The account has the plan `accounts.default_plan`.
        """
        with self._account_lock:
            if email not in self._accounts:
                self._accounts[email] = HostAccount(self, email, name)
            return self._accounts[email]

    def run_job(
        self, kind: str, payload: Mapping[str, Any] | None = None, *, subject: str = "", seconds: float = 60.0
    ) -> JobStatus:
        """Enqueue a job, wait until it has finished, and return its final status.

        Args:
            kind: the job's kind.
            payload: the value of `run.payload`.
            subject: the id of the account that the job is for.
            seconds: how long the job may take, including all its attempts.

        Raises:
            KeyError: no active plugin offers this kind.
            TimeoutError: it did not finish in time; a job that returns a `Pause` or `Reschedule` may never finish.
        """
        return self.run(self._finished(kind, dict(payload or {}), subject, seconds))

    async def _finished(self, kind: str, payload: Mapping[str, Any], subject: str, seconds: float) -> JobStatus:
        async with asyncio.timeout(seconds):
            job = await self.host.jobs.enqueue(kind, payload, subject=subject)
            while (status := await self.host.jobs.status(job)).finished_at is None:  # noqa: ASYNC110 - another process may end it
                await asyncio.sleep(_JOB_PAUSE)
        return status

    def _serve(self, listener: socket.socket, started: Future[Host]) -> None:
        try:
            asyncio.run(self._main(listener, started))
        except BaseException as error:  # noqa: BLE001 - it belongs to the test that started the host
            if started.done():
                self._failure = error
            else:
                started.set_exception(error)
        finally:
            self._loop = None
            listener.close()

    async def _main(self, listener: socket.socket, started: Future[Host]) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        compiled = LoadedApp(self.settings)
        await make_database(self.settings, compiled.models())
        await serve(compiled, listener, self._stop, started.set_result)
        # A server only logs such failures; a test of the plugin should fail.
        for failure in started.result().failures if started.done() else ():
            raise failure

    def _end(self) -> None:
        loop, stop, thread = self._loop, self._stop, self._thread
        if thread is None:
            return
        if loop is not None and stop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                loop.call_soon_threadsafe(stop.set)
        server = self.settings.server
        seconds = server.shutdown_delay + server.shutdown_timeout + STOP_SECONDS
        thread.join(seconds)
        if thread.is_alive():
            raise RuntimeError(f"the host did not stop within {seconds:g} seconds: something blocks its event loop")


class PluginHost(RunningHost):
    """A server with a plugin whose source is in the test: use it to test how a plugin starts, and how it fails.

    `source` is the source code of a single-file plugin, and `folder` is for the server's data. `config` has the same
    structure as the TOML file. Entering does not raise errors of the plugin: `plugin` has its id, `status`, `phase`,
    `error` and `hint`, and `log` contains the events of the server's log so far, as dictionaries.
    """

    def __init__(self, source: str, folder: Path, config: Mapping[str, Any] | None = None) -> None:
        self._module = f"inline_{secrets.token_hex(6)}"
        self._plugins = folder / self._module
        self._plugins.mkdir(parents=True)
        (self._plugins / f"{self._module}.py").write_text(dedent(source), "utf-8")
        super().__init__(settings_for_test({**(config or {}), "plugins_dir": self._plugins}, folder / "data"))
        self.log: Sequence[MutableMapping[str, Any]] = ()
        self._capturing = ExitStack()

    def __enter__(self) -> Self:
        _log_briefly()
        self.log = self._capturing.enter_context(capture_logs())
        try:
            return super().__enter__()
        except BaseException:
            self._forget()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, traceback)
        finally:
            self._forget()

    @property
    def plugin(self) -> PluginRecord:
        """The plugin as `pressroom plugins list` shows it."""
        records = self.host.compiled.plugins.records
        return next(record for record in records if record.folder == str(self._plugins))

    @property
    def failures(self) -> Mapping[tuple[str, str], int]:
        """The number of failures of the plugin, by extension point and reason: `failed`, `timeout` or `blocked`."""
        failures = self.host.compiled.gate.failures
        return {(point, why): count for (id_, point, why), count in failures.items() if id_ == self.plugin.id}

    def _forget(self) -> None:
        self._capturing.close()
        sys.modules.pop(self._module, None)
        with suppress(ValueError):
            sys.path.remove(str(self._plugins))


@cache
def _freeze_modules() -> None:
    """Exempt imported modules, which stay in memory, from garbage collection when the first host has started.

    Otherwise, each full collection would traverse them: with those of pytest and the interpreter at exit, this takes a
    third of the time of a short run. `gc.get_freeze_count` would traverse them too, so it is not asked first.
    """
    gc.freeze()


def _log_briefly() -> None:
    """Unless the project configured logging, log exceptions without local variables, which may hold credentials."""
    if not structlog.is_configured():
        chain: list[structlog.typing.Processor] = [
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            mask_secrets,
            structlog.dev.ConsoleRenderer(colors=False),
        ]
        structlog.configure(processors=chain)


def settings_for_test(config: Mapping[str, Any], folder: Path) -> Settings:
    """Return settings for a test, with data in `folder` and one worker process.

    `config` has the same structure as the TOML file; no file or environment variable is read. The worker process has
    normal priority (nice value 0), since its calls could otherwise time out when many tests run at once.

    Raises:
        pydantic.ValidationError: the configuration is invalid.
    """
    storage = {"path": folder, **config.get("storage", {})}
    executors = {"processes": 1, "niceness": 0, "start_plugin_processes": False, **config.get("executors", {})}
    return Settings.model_validate({**config, "storage": storage, "executors": executors})


def _plain(result: ToolResult | BaseModel | StoredResult | None) -> Any:
    if isinstance(result, StoredResult):
        return json.loads(result.data)
    data = result.data if isinstance(result, ToolResult) else result
    return data.model_dump(mode="json") if data is not None else None
