"""The body of an article as HTML."""

from __future__ import annotations

from pressroom_content.contract.articles import BodyFormat


def render_body(body: str, body_format: BodyFormat) -> str:
    """Return a body as sanitised HTML, as the built-in sites show it.

    Rendering takes about a second per megabyte: call it through `plugin.services.workers.run`.

    Raises:
        InvalidInput: the body is nested too deep, or too complex to be parsed in time.
    """
    from pressroom_content.rendering.sanitising import render  # noqa: PLC0415 - the parsers load with the first call

    return render(body, body_format).html
