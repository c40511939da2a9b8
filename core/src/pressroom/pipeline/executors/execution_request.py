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
