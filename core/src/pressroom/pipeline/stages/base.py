"""The base class of stages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError
from pressroom.pipeline.context import Interface, ResolvedCall, Services

Before = TypeVar("Before")
After = TypeVar("After")


class CallStage(ABC, Generic[Before, After]):
    """One stage: it takes the context that the previous stages produced, and returns one for the next.

    `internal` is true if the server's own calls pass the stage too.
    """

    name: ClassVar[str]
    internal: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, services: Services) -> None:
        """Keep the services that the stage uses."""

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether calls of a tool through an interface need the stage. Called when the server starts."""
        del plan_tool, interface
        return True

    @abstractmethod
    async def enter(self, call: Before) -> After:
        """Process the call. Raises a `CallError` to refuse it."""

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Settle the stage's counts once the call has ended, such as giving back what a refused call took.

        Stages are called in reverse order, whether or not the call reached them. `error` is `None` if the call
        succeeded.
        """
