"""Edits: a few kilobytes of edits cannot produce gigabytes of text."""

from __future__ import annotations

import resource

import pytest
from pressroom.sdk import InvalidInput
from pressroom_content.articles.edits import Edit, with_edits

MAX_BYTES = 2_097_152


def test_edits_that_multiply_a_body_are_refused_before_memory_grows() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    edits = [Edit("a", "a" * 1000, all=True), Edit("a", "a" * 700, all=True), Edit("a", "a" * 700, all=True)]
    with pytest.raises(InvalidInput, match=r"edits\.1\.replace: would give the body 1,400,000,000 characters"):
        with_edits("a" * 2_000, edits, max_length=MAX_BYTES)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000  # KiB


def test_one_long_replacement_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"edits\.0\.replace: .*at most|edits\.0\.replace: would give"):
        with_edits("one place", [Edit("place", "b" * (MAX_BYTES + 1))], max_length=MAX_BYTES)


def test_edits_up_to_the_limit_are_applied() -> None:
    assert len(with_edits("a" * 2_000, [Edit("a", "a" * 1_000, all=True)], max_length=MAX_BYTES)) == 2_000_000


def test_a_body_already_over_the_limit_can_be_shortened() -> None:
    assert with_edits("ab" * 20, [Edit("b", "", all=True)], max_length=30) == "a" * 20
