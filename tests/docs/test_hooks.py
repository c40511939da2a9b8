"""The example of every hook is a plugin that loads."""

import importlib
import re
import sys
import textwrap
from pathlib import Path

import pytest
from pressroom import hookspecs
from pressroom.config import Settings
from pressroom.plugins.contributions import RECORD_TYPES
from pressroom.plugins.discovery import Candidate
from pressroom.plugins.load import load_plugins

# Imports and definitions that a plugin using the example would have.
PRELUDE = """
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import asynccontextmanager

import click
from pressroom.sdk import *
from pydantic import BaseModel, Field
from sqlalchemy.orm import DeclarativeBase

PLUGIN = Plugin(id="example", title="Example", summary="The example of a hook.")
KNOWN_BADGES = {"badge_1"}
TOTALS: Counter[str] = Counter()
IN_FLIGHT: Counter[str] = Counter()
SECONDS: Counter[tuple[str, str]] = Counter()


class ShoutParams(Params):
    text: str = Field(description="What to shout.")


class TextParams(Params):
    text: str = Field(description="The text.")


class WordCount(BaseModel):
    words: int


class Base(DeclarativeBase):
    pass


class MemcachedLimiter:
    def __init__(self, settings: object) -> None:
        self.settings = settings


async def connect():
    return None
"""


def example(hook: str) -> str:
    doc = getattr(hookspecs, hook).__doc__
    match = re.search(r"```python\n(.*?)\n *```", doc, re.DOTALL)
    assert match, f"{hook} has no example"
    return textwrap.dedent(match[1])


@pytest.mark.parametrize("hook", RECORD_TYPES)
def test_a_hooks_example_is_a_plugin_that_loads(hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = f"example_of_{hook}"
    (tmp_path / "my_plugin/migrations/versions").mkdir(parents=True)
    (tmp_path / f"{module}.py").write_text(f"{PRELUDE}\n\n{example(hook)}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    settings = Settings.model_validate({"plugins": {"example": {}}, "storage": {"path": tmp_path}})

    loaded = load_plugins(settings, candidates=[Candidate("example", "pressroom-example", "1.0", module)])

    (record,) = loaded.records
    assert (record.status, record.error) == ("active", "")
    assert [
        type(contribution.record)
        for contribution in loaded.contributions.of(RECORD_TYPES[hook])
        if contribution.plugin == "example"
    ]
    sys.modules.pop(module)


def test_every_hook_has_a_record_type() -> None:
    hooks = {name for name, value in vars(hookspecs).items() if hasattr(value, "pressroom_spec")}
    assert hooks == set(RECORD_TYPES)
