"""Comparing two versions of an article takes seconds at most, whatever they contain."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pressroom_content.articles.versions import difference
from pressroom_content.pages.article_versions import MAX_ROWS, compare
from pressroom_content.records import Article

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAX_SECONDS = 5.0
"""CPU seconds on a slow machine; without a bound, the smallest of these inputs takes minutes."""

TEXTS = {
    "marks in lines": ("\n".join(["!!!a" * 120] * 4_000), "\n".join(["!!!b" * 120] * 4_000)),
    "words in lines": ("\n".join(["a b " * 200] * 2_000), "\n".join(["b a " * 200] * 2_000)),
    "lines in many lines": ("a\nb\n" * 100, "b\nc\na\n" * 30_000),
    "many equal lines": ("a\n" * 60_000, "b\na\n" * 50_000),
    "one line": ("a " * 1_000_000, "b " * 1_000_000),
    "lines that stand once": ("\n".join(map(str, range(50_000))), "\n".join(map(str, range(50_000, 0, -1)))),
}


def article(body: str) -> Article:
    members = dict.fromkeys(Article.__dataclass_fields__, "")
    lists = dict.fromkeys(("synonyms", "tags", "categories"), ())
    return Article(**{**members, **lists, "version": 1, "body": body, "created_at": NOW, "updated_at": NOW})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("work", [compare, difference], ids=["page", "tool"])
def test_hostile_versions_are_compared_in_seconds(work: object, name: str) -> None:
    before, after = (article(body) for body in TEXTS[name])
    begin = time.process_time()
    assert callable(work)
    assert work(before, replace(after, version=2))
    assert time.process_time() - begin < MAX_SECONDS


def test_words_are_compared_in_a_comparison_of_normal_size() -> None:
    before = "\n\n".join(
        f"The {number}. paragraph says that tea is hot and that cups are full." for number in range(300)
    )
    comparison = compare(article(before), article(before.replace("hot", "cold")))
    assert comparison.cut
    assert len(comparison.rows) == MAX_ROWS
    changed = [piece.text for row in comparison.rows for piece in row.pieces if piece.changed]
    assert set(changed) == {"hot", "cold"}
