"""What a stage is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError
from pressroom.pipeline.context import Interface, ResolvedCall, Services

Before = TypeVar("Before")
After = TypeVar("After")


class CallStage(ABC, Generic[Before, After]):
    """One stage: it takes the context that the stages before it made, and returns the one for those after it.

    `internal` tells that the server's own calls pass the stage too.
    """

    name: ClassVar[str]
    internal: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, services: Services) -> None:
        """Take what the stage works with."""

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Tell whether calls of a tool through an interface need the stage. It is asked when the server starts."""
        del plan_tool, interface
        return True

    @abstractmethod
    async def enter(self, call: Before) -> After:
        """Do the stage's work. Raises a `CallError` to refuse the call."""

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Settle what the stage counted once the call has ended, such as giving back what a refused one took.

        Stages are asked in reverse order, and whether the call reached them or not. `error` is `None` where it went
        well.
        """
