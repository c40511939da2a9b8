"""One run of a tool, as the pipeline hands it to an executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pressroom.sdk import Call, Params


@dataclass(slots=True)
class ExecutionRequest:
    """One run of a tool.

    `reference` (`package.module:name`) is what a worker process imports: a `Generator`, an `McpTool` or a plain
    function. `function` is what the other executors call, a coroutine function in the async executor. `params` and
    `call` must be picklable. `timeout` is in seconds from the start of the run; a call waits in the queue for at most
    as long again. `memory_mib` is how much memory a worker process can allocate for this run. `plugin` is the id of the
    tool's plugin, for the log.
    """

    reference: str
    function: Callable[[Any, Call], Any]
    params: Params
    call: Call
    timeout: float
    memory_mib: int
    plugin: str = ""
