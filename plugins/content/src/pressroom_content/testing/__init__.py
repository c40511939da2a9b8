"""Contract checks for plugins that extend websites and articles.

`check_connector(connector)` and its siblings return findings: the broken promise, what was observed, and the fix.
`pressroom plugins check` and `assert_plugin_conforms` run them on every record that a plugin yields from the content
plugin's hooks. A plugin that offers hooks defines `CHECKS` in the package `testing` of its distribution.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pressroom.testing import RunningHost
from pressroom.testing.contracts import ContractSuite, Finding

from pressroom_content.testing.bodies import CODEC, check_codec
from pressroom_content.testing.connector import CONNECTOR, check_connector
from pressroom_content.testing.language import LANGUAGE, check_language
from pressroom_content.testing.sources import IMAGE_SOURCE, SEARCH_SOURCE, check_image_source, check_search_source

__all__ = [
    "CHECKS",
    "SUITES",
    "check_codec",
    "check_connector",
    "check_image_source",
    "check_language",
    "check_search_source",
]

SUITES: Final[tuple[ContractSuite[Any], ...]] = (CONNECTOR, CODEC, IMAGE_SOURCE, SEARCH_SOURCE, LANGUAGE)
"""The contracts of the records that other plugins add to websites and articles."""

CHECKS: Final[Mapping[str, Callable[[RunningHost, Any], list[Finding]]]] = {
    "pressroom_site_connectors": lambda running, record: check_connector(record, running=running),
    "pressroom_image_sources": check_image_source,
    "pressroom_search_sources": lambda running, record: check_search_source(record),
    "pressroom_languages": lambda running, record: check_language(record),
}
"""The check of each hook's records, called with the running host and a record."""
