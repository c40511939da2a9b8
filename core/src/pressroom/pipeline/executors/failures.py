"""Errors that the executors return: the log gets the reason, the client gets the request ID."""

from __future__ import annotations

import structlog

from pressroom.errors import CallTimeout, InternalError, PluginError
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.sdk import ExecutorName

_log = structlog.get_logger()


def tool_failed(work: ExecutionRequest, executor: ExecutorName, error: BaseException) -> InternalError:
    """Log an exception that a tool raised in this process, and return the error for the client."""
    _log.error("tool failed", **_where(work, executor), exc_info=error)
    return _failed(work)


def tool_failed_in_worker(work: ExecutionRequest, traceback: str) -> InternalError:
    """Log an exception that a tool raised in a worker process, and return the error for the client."""
    _log.error("tool failed", **_where(work, "process"), exception=traceback)
    error = _failed(work)
    # The exception object stayed in the other process; the last line of its traceback describes it.
    error.__cause__ = PluginError(traceback.strip().rpartition("\n")[2])
    return error


def out_of_memory(work: ExecutionRequest, traceback: str) -> InternalError:
    """Log that a tool reached its memory limit, and return the error for the client."""
    _log.error(
        "tool ran out of memory", **_where(work, "process"), memory_mib=work.memory_mib, exception=traceback.strip()
    )
    error = InternalError("The call needs more memory than the tool is allowed; ask for something smaller.")
    error.spent = True
    return error


def worker_lost(work: ExecutionRequest, reason: str) -> InternalError:
    """Log that a worker process died while running a tool, and return the error for the client."""
    _log.error("worker process lost", **_where(work, "process"), reason=reason)
    return InternalError(f"The tool's process ended before it returned a result (request {work.call.request_id}).")


def timed_out(work: ExecutionRequest, executor: ExecutorName, retry_after: int) -> CallTimeout:
    """Log that a tool did not finish in time, and return the error for the client."""
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
    return InternalError(
        f"The tool failed with an internal error; the server's log has the reason (request {work.call.request_id})."
    )
