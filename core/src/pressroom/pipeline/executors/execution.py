"""One run of a tool, as the pipeline hands it to an executor, and the errors that an executor itself answers with.

The reason of such an error goes to the log, and the client learns the request id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from pressroom.errors import CallTimeout, InternalError
from pressroom.sdk import Call, ExecutorName, Params


@dataclass(slots=True)
class ExecutionRequest:
    """One run of a tool.

    `reference` (`package.module:name`) is what a worker process imports: a `Generator`, an `McpTool` or a plain
    function. `function` is what the other executors call, a coroutine function in the async executor. `params` and
    `call` can be pickled. `timeout` is in seconds, counted from when the tool begins; a call waits at most as long
    again for its turn. `memory_mib` is what a worker process may allocate for this run. `plugin` is the id of the
    plugin that the tool came from, for the log.
    """

    reference: str
    function: Callable[[Any, Call], Any]
    params: Params
    call: Call
    timeout: float
    memory_mib: int
    plugin: str = ""


_log = structlog.get_logger()


def tool_failed(work: ExecutionRequest, executor: ExecutorName, error: BaseException) -> InternalError:
    """Log what a tool raised in this process, and return what the client is told."""
    _log.error("tool failed", **_where(work, executor), exc_info=error)
    return _failed(work)


def tool_failed_in_worker(work: ExecutionRequest, traceback: str) -> InternalError:
    """Log what a tool raised in a worker process, and return what the client is told."""
    _log.error("tool failed", **_where(work, "process"), exception=traceback)
    return _failed(work)


def out_of_memory(work: ExecutionRequest, traceback: str) -> InternalError:
    """Log that a tool ran into its memory limit, and return what the client is told."""
    _log.error(
        "tool ran out of memory", **_where(work, "process"), memory_mib=work.memory_mib, exception=traceback.strip()
    )
    error = InternalError("The call needs more memory than the tool is allowed; ask for something smaller.")
    error.spent = True
    return error


def worker_lost(work: ExecutionRequest, reason: str) -> InternalError:
    """Log that a worker process ended under a tool, and return what the client is told."""
    _log.error("worker process lost", **_where(work, "process"), reason=reason)
    return InternalError(f"The tool's process ended before it answered (request {work.call.request_id}).")


def timed_out(work: ExecutionRequest, executor: ExecutorName, retry_after: int) -> CallTimeout:
    """Log that a tool did not finish in time, and return what the client is told."""
    _log.warning("tool timed out", **_where(work, executor), seconds=work.timeout)
    error = CallTimeout(
        f"The tool did not finish within {work.timeout:g} s; ask for something smaller, or try again later.",
        retry_after=retry_after,
    )
    error.spent = True
    return error


def _where(work: ExecutionRequest, executor: ExecutorName) -> dict[str, str]:
    return {"plugin": work.plugin, "tool": work.call.tool, "request_id": work.call.request_id, "executor": executor}


def _failed(work: ExecutionRequest) -> InternalError:
    return InternalError(f"The tool failed inside; the server's log has the reason (request {work.call.request_id}).")
