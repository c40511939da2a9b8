"""The tuple of stages: each accepts what the previous one returns, and `pressroom explain` has a text for each."""

from itertools import pairwise
from typing import Any, get_type_hints

from pressroom.cli.explanation import STAGE_TEXTS
from pressroom.pipeline.chain import STAGE_NAMES, STAGES
from pressroom.pipeline.context import Outcome, ReceivedCall, ValidatedCall
from pressroom.pipeline.stages.base import CallStage


def hints(stage: type[CallStage[Any, Any]]) -> tuple[Any, Any]:
    """Return the context types that a stage takes and returns."""
    annotations = get_type_hints(stage.enter)
    return annotations["call"], annotations["return"]


def test_each_stage_receives_the_result_of_the_previous_one() -> None:
    assert hints(STAGES[0])[0] is ReceivedCall
    for before, after in pairwise(STAGES[:-1]):
        assert issubclass(hints(before)[1], hints(after)[0]), (before.name, after.name)
    assert hints(STAGES[-2])[1] is ValidatedCall


def test_the_last_stage_sees_every_outcome() -> None:
    assert hints(STAGES[-1]) == (Outcome, Outcome)


def test_stage_names_are_unique_and_documented() -> None:
    assert len(set(STAGE_NAMES)) == len(STAGES)
    assert set(STAGE_TEXTS) == set(STAGE_NAMES)
