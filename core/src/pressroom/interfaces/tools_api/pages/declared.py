"""What a page needs to know of a generator besides its descriptor.

Members that a page's descriptor has beside those of section 2.10: `page`, with `gallery`, `modes` (titles) and
`snippets`, and `sampleData`, what an answer of the tool says of its file. Members that a parameter has: those of
`pressroom.catalog.schema.form_parameters`, and `mode`, the number of the mode that it belongs to.
"""

from __future__ import annotations

from typing import Any

from pressroom.catalog.schema import form_parameters
from pressroom.interfaces.tools_api.pages.forms import Descriptor
from pressroom.sdk import Generator


def page_descriptor(descriptor: Descriptor, generator: Generator) -> dict[str, Any]:
    """Return a generator's descriptor with what its page needs besides."""
    page = generator.page
    params = form_parameters(generator.params)
    for number, mode in enumerate(page.modes):
        for param in params:
            if param["name"] in mode.params:
                param["mode"] = number
    first, *others = descriptor["endpoints"]
    return {
        **descriptor,
        "endpoints": [{**first, "params": params}, *others],
        "page": {
            "gallery": page.gallery,
            "modes": [mode.title for mode in page.modes],
            "snippets": [{"title": one.title, "text": one.text, "note": one.note} for one in page.snippets],
        },
        "sampleData": page.sample.model_dump(mode="json", by_alias=True) if page.sample else {},
    }
