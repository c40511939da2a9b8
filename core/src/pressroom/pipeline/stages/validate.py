"""Whether the arguments are what the tool takes."""

from __future__ import annotations

import hashlib

import orjson
from pydantic import ValidationError

from pressroom.pipeline.exchange import Exchange
from pressroom.validation.messages import input_error

HOST_PARAMS = ("response",)
"""Parameters of the host that stand beside a tool's own over HTTP."""

CONTENT_ID_LENGTH = 32


class Validate:
    """Reads the arguments, validates them with the tool's model, and names the content that they stand for."""

    name = "validate"

    async def __call__(self, exchange: Exchange) -> None:
        """Set the parameters and the content id. Raises `InvalidJson` or `InvalidInput`."""
        plan_tool = exchange.known_tool
        model = plan_tool.tool.params
        arguments = exchange.read_arguments(exchange)
        try:
            params = exchange.params = model.model_validate(arguments)
        except ValidationError as error:
            others = () if exchange.by_mcp_name else HOST_PARAMS
            raise input_error(error, model, also_known=others) from None
        if plan_tool.tool.kind == "generator":
            canonical = orjson.dumps(params.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
            digest = hashlib.sha256(plan_tool.tool.content_salt)
            if plan_tool.cache.share == "subject":
                digest.update(exchange.known_caller.subject.encode() + b"\n")
            digest.update(canonical)
            exchange.content_id = digest.hexdigest()[:CONTENT_ID_LENGTH]
