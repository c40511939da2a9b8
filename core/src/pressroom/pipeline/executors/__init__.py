"""Executors for tools: the event loop, threads and worker processes."""

from typing import TYPE_CHECKING, Any

from pressroom.pipeline.executors.execution_request import ExecutionRequest

if TYPE_CHECKING:
    from pressroom.pipeline.executors.executors import Executors

__all__ = ["ExecutionRequest", "Executors"]


def __getattr__(name: str) -> Any:
    # Worker processes import this package too, and have no use for the server's part of it.
    if name != "Executors":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pressroom.pipeline.executors.executors import Executors  # noqa: PLC0415  # that is the point

    return Executors
