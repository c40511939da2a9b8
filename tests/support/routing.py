"""Cache compiled Sanic routers in the tests' own process: identical router source is compiled once for all hosts.

A pytest plugin. Parsing, unparsing and recompiling that source took a tenth of a host's start-up time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, SimpleNamespace
from typing import Final

import pytest
from sanic_routing import router

_MAX_ROUTERS: Final = 64
"""Maximum number of cached routers."""


@lru_cache(_MAX_ROUTERS)
def _compiled(source: str) -> CodeType:
    return compile(ast.parse(source), "", "exec")


def _as_it_is(code: CodeType, *_: object) -> CodeType:
    return code


@pytest.fixture(scope="session", autouse=True)
def _routers_compiled_once() -> Iterator[None]:
    # Sanic parses the source, unparses it for display, fixes its tree and compiles that, in this order.
    steps = SimpleNamespace(parse=_compiled, unparse=_as_it_is, fix_missing_locations=_as_it_is)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(router, "ast", steps)
        patch.setattr(router, "compile", _as_it_is, raising=False)
        yield
