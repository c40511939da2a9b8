"""What readers on Git, by its generator, do not get as it was written. The tests of fidelity write this module."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

FIDELITY: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "astro": {
            "typography": "converted: quotes, dashes and dots are set as in print",
        },
        "hugo": {
            "inline_elements": "lost with a warning",
            "captions": "converted: a paragraph below the image",
            "definition_lists": "lost with a warning",
            "details": "lost with a warning",
            "embeds": "converted: a link",
            "direction": "lost with a warning",
            "languages": "lost with a warning",
            "typography": "converted: quotes, dashes and dots are set as in print",
            "merged_cells": "converted: cells are by themselves",
            "direction_of_blocks": "lost with a warning",
        },
        "jekyll": {
            "typography": "converted: quotes, dashes and dots are set as in print",
        },
    }
)
