"""Run the tool, and store the file that a generator rendered."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, Final

import structlog

from pressroom.catalog.tool import Tool
from pressroom.config.models import Settings
from pressroom.errors import (
    BackendError,
    CallError,
    CallTimeout,
    InternalError,
    Overloaded,
    PluginError,
    PressroomError,
    Unavailable,
)
from pressroom.fetch.shares import Share, share_of
from pressroom.gate import PluginCall, PluginFailed
from pressroom.gate.failures import describe_value, one_line, raised_in
from pressroom.gate.plugin_gate import Reason
from pressroom.pipeline.context import RenderedFile, Services, ValidatedCall
from pressroom.pipeline.executors import ExecutionRequest
from pressroom.pipeline.executors.failures import tool_failed
from pressroom.pipeline.results import BYTES, MAX_IMAGE_BYTES, MAX_RESULT_BYTES, is_text, result_problem
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import (
    EXTENSIONS,
    Artifact,
    AudioContent,
    CacheEntry,
    Call,
    Caller,
    ContentBlock,
    Generator,
    ResourceLink,
    ToolResult,
)
from pressroom.validation.echo import counted, cut

log = structlog.get_logger()

_MAX_MESSAGE_LENGTH: Final = 10_000
"""Maximum length of the message of an error that a tool raises for its caller, in characters."""

OUTAGE_SECONDS: Final = 5
"""How long clients should wait before retrying a call that failed in an outage, in seconds."""


class Run(CallStage[ValidatedCall, ValidatedCall]):
    """Runs the tool in its executor, and stores what a generator rendered.

    Both happen in one task, so that identical calls share the stored file as well as the render.
    """

    name = "run"
    internal = True

    def __init__(self, services: Services) -> None:
        self._base_url = services.settings.public_url
        self._executors = services.executors
        self._by_name = services.executors.by_name
        self._single_flight = services.single_flight
        self._slots = _RunSlots(services.settings)
        self._metrics = services.metrics
        self._files = services.files
        self._index = services.cache
        self._gate = services.gate

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Set `file`, or `result` for an MCP tool. Raises what the tool or the executor raises."""
        if call.plan_tool.tool.info.kind == "mcp":
            if call.result is None:
                call.result = result = await self._run(call)
                problem = result_problem(result, call.plan_tool.tool.declaration)
                call.data = self._written(result, call.plan_tool.tool, problem)
        elif call.file is None:
            call.file = await asyncio.shield(call.render or self._start(call))
        return call

    def _start(self, call: ValidatedCall) -> asyncio.Task[RenderedFile]:
        """Begin a run of a generator in one of its caller's slots. Raises `Overloaded` if all are taken."""
        leave = self._slots.enter(call.caller)
        if call.plan_tool.cache.seconds == 0:
            render = self._single_flight.start_alone(self._render(call))
        else:
            render = self._single_flight.start(call.content_id, self._render(call))
        # Not before the run itself ends: leaving early must not make room for another run.
        render.add_done_callback(lambda _done: leave())
        return render

    async def _render(self, call: ValidatedCall) -> RenderedFile:
        artifact = await self._run(call)
        self._check(artifact, call.plan_tool.tool)
        return await self._store(call, artifact)

    async def draw(self, call: ValidatedCall) -> Artifact:
        """Run a generator and return its artifact without storing it. Raises what `enter` raises."""
        artifact = await self._run(call)
        self._check(artifact, call.plan_tool.tool)
        if not isinstance(artifact, Artifact):
            raise TypeError(f"{call.request.tool_name} is not a generator")
        return artifact

    async def _run(self, call: ValidatedCall) -> Any:
        declaration = call.plan_tool.tool.declaration
        tool_call = call.for_tool(self._base_url)
        if isinstance(declaration, Generator) and declaration.prepare is None and declaration.executor == "process":
            return await self._run_in_executor(call, tool_call)  # it makes no requests in this process
        with share_of(call.caller) as share:
            if isinstance(declaration, Generator) and declaration.prepare is not None:
                try:
                    with self._executors.expecting(declaration.executor):
                        prepare = partial(declaration.prepare, call.params, tool_call)
                        tool_call = replace(tool_call, prepared=await self._prepared(call, prepare, share))
                finally:
                    call.fetched = share.requests
            return await self._run_in_executor(call, tool_call)

    async def _prepared(self, call: ValidatedCall, prepare: Callable[[], Awaitable[Any]], share: Share) -> Any:
        """Return the data that a generator prepared for its run. Raises a `CallError`.

        A refusal keeps its cost if the preparation had made requests by then; before that it counts as mere validation.
        """
        tool = call.plan_tool.tool
        preparation = PluginCall(tool.info.plugin, "tool", f"{tool.name} (prepare)")
        try:
            return await self._gate.run(preparation, tool.timeout, prepare, passes=(CallError, BackendError))
        except BackendError as error:
            raise _outage(tool, call.request.request_id, error) from error
        except CallError as error:
            error.spent = share.requests > 0 and _is_of_the_request(error)
            self._check_message(tool, error)
            raise
        except PluginFailed as failure:
            if failure.reason == "timeout":
                late = CallTimeout(f"{tool.name} was not ready within {tool.timeout:g} s; try again later.")
                late.spent = True
                raise late from failure
            raise _internal_error(tool) from failure.cause

    async def _run_in_executor(self, call: ValidatedCall, tool_call: Call) -> Any:
        tool = call.plan_tool.tool
        declaration = tool.declaration
        executor = self._by_name[declaration.executor]
        work = ExecutionRequest(
            reference=declaration.reference,
            function=declaration.function,
            params=call.params,
            call=replace(tool_call, plugin=None) if declaration.executor == "process" else tool_call,
            timeout=tool.timeout,
            memory_mib=declaration.memory_mib,
            plugin=tool.info.plugin,
        )
        started = time.perf_counter()
        try:
            if self._gate.traces:
                with self._gate.traced(PluginCall(tool.info.plugin, "tool", tool.name)):
                    return await executor.run(work)
            return await executor.run(work)
        except BackendError as error:
            raise _outage(tool, tool_call.request_id, error) from error
        except CallError as error:
            error.spent = error.spent or _is_of_the_request(error)
            self._count(tool, error)
            self._check_message(tool, error)
            raise
        except PressroomError as error:  # the tool should have handled it: it is not for callers
            failure = tool_failed(work, declaration.executor, error)
            if not isinstance(error, PluginError):  # counted for the plugin whose code it is about
                failure.__cause__ = error
                self._count(tool, failure)
            raise failure from error
        finally:
            call.run_seconds = time.perf_counter() - started
            self._metrics.rendered(tool.name, call.run_seconds)

    def _count(self, tool: Tool, error: CallError) -> None:
        """Count a failure of a tool's function; the executor has logged it."""
        call = PluginCall(tool.info.plugin, "tool", tool.name)
        if isinstance(error, InternalError):
            cause = error.__cause__ or error
            self._blame(call, raised_in(cause), "failed", one_line(cause))
        elif isinstance(error, CallTimeout):
            text = f"{call} did not end within {tool.timeout:g} s"
            self._blame(call, getattr(error.__cause__, "frames", ()), "timeout", text)

    def _check_message(self, tool: Tool, error: CallError) -> None:
        """Ensure that an error which a tool raised for its caller has a message that can be sent."""
        if not is_text(error.hint):
            error.hint = ""
        if is_text(error.message) and error.message.strip():
            error.message = cut(error.message, _MAX_MESSAGE_LENGTH)
        elif isinstance(error, InternalError):
            error.message = _internal_error(tool).message
        else:
            self._report(tool, f"raised {type(error).__name__} without a message that can be sent")
            error.message = f"{tool.mcp_name or tool.name} refused this call without giving a reason."

    def _blame(self, call: PluginCall, frames: Iterable[FrameType], reason: Reason, text: str) -> None:
        blamed = self._gate.blamed(call, frames)
        if blamed == call:
            self._gate.count(call, reason, text)
        else:
            self._gate.note(blamed, reason, text)  # the executor has logged only the tool's own plugin

    def _written(self, result: object, tool: Tool, problem: str) -> str:
        """Return the data of an MCP tool's result as JSON. Refuse a result that no client can read."""
        if problem:
            raise self._broken(tool, problem)
        size = self._checked_size(tool, _size_of_content(result))
        data = self._json(result.data if isinstance(result, ToolResult) else result, tool)
        self._checked_size(tool, size + len(data.encode()))
        return data

    def _checked_size(self, tool: Tool, size: int) -> int:
        """Return the size of a result in bytes. Raises `CallError` if it is too large to be sent."""
        if size <= MAX_RESULT_BYTES:
            return size
        problem = f"returned {size:,} bytes; a result may have at most {MAX_RESULT_BYTES:,}"
        self._report(tool, f"{problem}: return less, or a ResourceLink to a file")
        raise CallError(f"{tool.mcp_name or tool.name} {problem}. Ask for less, if its arguments allow that.")

    def _json(self, model: Any, tool: Tool) -> str:
        try:
            return str(model.model_dump_json(by_alias=True))
        except BaseException as error:  # noqa: BLE001 - serialisers can be code of the plugin
            problem = f"returned {type(model).__name__}, which cannot be written as JSON: {one_line(error)}"
        raise self._broken(tool, problem)

    def _check(self, artifact: object, tool: Tool) -> None:
        """Refuse an invalid artifact of a generator before it reaches the store or a client."""
        if isinstance(tool.declaration, Generator) and (problem := _artifact_problem(artifact, tool.declaration)):
            raise self._broken(tool, problem)

    def _broken(self, tool: Tool, problem: str) -> InternalError:
        """Record that a tool's result does not match its declaration, and return the error for it."""
        self._report(tool, problem)
        error = _internal_error(tool)
        error.__cause__ = TypeError(f"{tool.name} {problem}")
        return error

    def _report(self, tool: Tool, problem: str) -> None:
        log.error("a tool broke its declaration", tool=tool.name, plugin=tool.answerable, problem=problem)
        self._gate.count(PluginCall(tool.answerable, "tool", tool.name), "failed", problem)

    async def _store(self, call: ValidatedCall, artifact: Artifact) -> RenderedFile:
        """Write the file, then the index entry, so that an entry never points at an incomplete file.

        Raises a `CallError` if the file cannot be stored; no index entry is written then.
        """
        tool, preview = call.plan_tool.tool, artifact.preview
        entry = CacheEntry(
            key=f"{tool.name}/{call.content_id}.{tool.extensions[artifact.media_type]}",
            media_type=artifact.media_type,
            size=len(artifact.content),
            details=self._json(artifact.details, tool).encode() if artifact.details is not None else b"{}",
            warnings=artifact.warnings,
            preview=f"{tool.name}/{call.content_id}-preview.{EXTENSIONS[preview[0]]}" if preview else "",
        )
        try:
            if preview is not None:
                await self._files.write(entry.preview, preview[1], media_type=preview[0])
            await self._files.write(entry.key, artifact.content, media_type=entry.media_type)
        except BackendError as error:
            self._metrics.backend_failure("files")
            log.warning("a file could not be stored", tool=tool.name, key=entry.key, error=error.message)
            raise storage_failure("the file could not be stored; try again in a moment", error) from error
        if call.plan_tool.cache.seconds:
            try:
                await self._index.put(call.content_id, entry, seconds=call.plan_tool.cache.seconds)
            except BackendError:
                self._metrics.backend_failure("cache")
        return RenderedFile(entry, artifact.content)


def storage_failure(message: str, error: BackendError) -> CallError:
    """Return the client's error for a failure of the store, with a `Retry-After` if the store is unavailable."""
    if isinstance(error, Unavailable):
        return Overloaded(message, retry_after=OUTAGE_SECONDS)
    return InternalError(message)


class _RunSlots:
    """Counts each caller's generator runs, including those that wait for a worker.

    A caller without an account is identified by IP address, which for IPv6 is already a /64 network. The server's own
    calls have no IP address, and no limit.
    """

    def __init__(self, settings: Settings) -> None:
        self._anonymous = settings.limits.anonymous_concurrency
        self._account = settings.mcp.concurrency
        self._running: Counter[str] = Counter()

    def enter(self, caller: Caller) -> Callable[[], None]:
        """Take a slot, and return the function that frees it, once. Raises `Overloaded` if all are taken."""
        max_runs = self._account if caller.subject else self._anonymous
        key = caller.connection or caller.subject or caller.client_ip
        if not key or not max_runs:
            return _nothing
        if self._running[key] >= max_runs:
            raise Overloaded(
                f"You have {counted(max_runs, 'run')} of generators under way, the maximum for one caller "
                f"{'with' if caller.subject else 'without'} an account at once. "
                "Send the request again once one of them has ended; it cost nothing."
            )
        self._running[key] += 1
        return partial(self._leave, key)

    def _leave(self, key: str) -> None:
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]


def _nothing() -> None:
    """Do nothing: no slot was taken."""


def _outage(tool: Tool, request_id: str, error: BackendError) -> Overloaded:
    """Log that a tool met an outage of the server's storage, and return the error for the client."""
    log.warning("a tool met an outage", tool=tool.name, request_id=request_id, error=error.message)
    return Overloaded(
        f"{tool.name} could not reach the server's storage. Nothing was confirmed: try again in a few seconds",
        retry_after=OUTAGE_SECONDS,
    )


def _internal_error(tool: Tool) -> InternalError:
    return InternalError(f"{tool.name} failed with an internal error; quote the request ID to the operator")


def _is_of_the_request(error: CallError) -> bool:
    """Return whether an error of a run is the request's fault rather than a failure or overload of the server."""
    return not isinstance(error, InternalError | Overloaded)


def _size_of_content(result: object) -> int:
    """Return the size in bytes of a valid result without its data, and without images that are too large to be sent."""
    if not isinstance(result, ToolResult):
        return 0
    images = sum(len(content) for _, content in result.images if len(content) <= MAX_IMAGE_BYTES)
    return len(result.text.encode()) + images + sum(map(_size_of_block, result.content))


def _size_of_block(block: ContentBlock) -> int:
    if isinstance(block, AudioContent):
        return len(block.data)
    content = block.description if isinstance(block, ResourceLink) else block.content
    return len(content.encode() if isinstance(content, str) else content)


def _artifact_problem(artifact: object, declaration: Generator) -> str:
    """Describe the fault of a generator's result, or return an empty string if it is valid."""
    if not isinstance(artifact, Artifact):
        return f"returned {type(artifact).__name__} instead of an Artifact"
    shape: Any = artifact
    if artifact.media_type not in declaration.produces:
        return f"made {artifact.media_type}, which it does not declare"
    if not isinstance(shape.content, BYTES):
        return f"made content of type {type(shape.content).__name__}; it must be bytes"
    if problem := "" if shape.preview is None else _preview_problem(shape.preview):
        return problem
    if not isinstance(shape.warnings, tuple | list) or not all(map(is_text, shape.warnings)):
        return f"returned the warnings {describe_value(shape.warnings)}; they must be a tuple of str"
    if declaration.details is not None and not isinstance(artifact.details, declaration.details):
        return f"returned details of type {type(artifact.details).__name__}"
    return ""


def _preview_problem(preview: Any) -> str:
    match preview:
        case (str() as media_type, _) if not (media_type.startswith("image/") and media_type in EXTENSIONS):
            return f"made a preview of type {media_type}, which is not an image type"
        case (str(), content) if not isinstance(content, BYTES):
            return f"made a preview with content of type {type(content).__name__}; it must be bytes"
        case (str(), _):
            return ""
        case _:
            return f"made the preview {describe_value(preview)}; it must be a pair such as ('image/png', b'…')"
