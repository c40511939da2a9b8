"""Whether the arguments are what the tool takes."""

from __future__ import annotations

import hashlib
from typing import Final

import orjson
from pydantic import ValidationError

from pressroom.errors import CallError
from pressroom.pipeline.context import ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.validation.messages import input_error

HOST_PARAMS: Final = ("response",)
"""Parameters of the host that HTTP calls accept in addition to the tool's own."""

CONTENT_ID_LENGTH: Final = 32


class Validate(CallStage[ResolvedCall, ValidatedCall]):
    """Validates the arguments with the tool's model and derives the content id from them."""

    name = "validate"
    internal = True

    def __init__(self, services: Services) -> None:
        """Do nothing: it needs no more than the call."""

    async def enter(self, call: ResolvedCall) -> ValidatedCall:
        """Return the call with its parameters and content id. Raises `InvalidInput`, or why they could not be read."""
        plan_tool, arguments = call.plan_tool, call.request.arguments
        if isinstance(arguments, CallError):
            raise arguments
        model = plan_tool.tool.params
        try:
            params = model.model_validate(arguments)
        except ValidationError as error:
            others = () if call.request.interface == "mcp" else HOST_PARAMS
            raise input_error(error, model, also_known=others) from None
        content_id = ""
        if plan_tool.tool.info.kind == "generator":
            canonical = orjson.dumps(params.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
            digest = hashlib.sha256(plan_tool.tool.content_salt)
            if plan_tool.cache.share == "subject":
                digest.update(call.caller.subject.encode() + b"\n")
            digest.update(canonical)
            content_id = digest.hexdigest()[:CONTENT_ID_LENGTH]
        return ValidatedCall(
            call.request, call.caller, plan_tool, params, content_id, entered_middleware=call.entered_middleware
        )
