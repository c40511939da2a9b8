import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.observability.metrics import Metrics
from pressroom.sdk import ExecutorName
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class Busy:
    """Executors in a fixed state."""

    def queue_length(self, executor: ExecutorName) -> int:
        return {"async": 0, "thread": 1, "process": 7}[executor]

    def running(self, executor: ExecutorName) -> int:
        return {"async": 3, "thread": 0, "process": 2}[executor]


def read(metrics: Metrics) -> Samples:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return read(metrics).get((name, tuple(sorted(labels.items()))))


def test_calls_are_counted_by_tool_and_code_and_timed() -> None:
    metrics = Metrics(["qr-code-generator"])
    metrics.call("qr-code-generator", "ok", 0.03)
    metrics.call("qr-code-generator", "ok", 0.2)
    metrics.call("qr-code-generator", "rate_limited", 0.0001)
    tool = "qr-code-generator"
    assert value(metrics, "pressroom_requests_total", tool=tool, code="ok") == 2
    assert value(metrics, "pressroom_requests_total", tool=tool, code="rate_limited") == 1
    assert value(metrics, "pressroom_call_seconds_count", tool=tool) == 3
    assert value(metrics, "pressroom_call_seconds_sum", tool=tool) == pytest.approx(0.2301)
    assert value(metrics, "pressroom_call_seconds_bucket", tool=tool, le="0.05") == 2


def test_runs_cache_hits_and_limits_are_counted_by_tool() -> None:
    metrics = Metrics(["a", "b"])
    metrics.rendered("a", 1.5)
    metrics.cache("a", hit=True)
    metrics.cache("a", hit=False)
    metrics.cache("a", hit=False)
    metrics.limited("b")
    assert value(metrics, "pressroom_render_seconds_sum", tool="a") == 1.5
    assert value(metrics, "pressroom_cache_hits_total", tool="a") == 1
    assert value(metrics, "pressroom_cache_misses_total", tool="a") == 2
    assert value(metrics, "pressroom_limited_total", tool="b") == 1
    assert value(metrics, "pressroom_limited_total", tool="a") == 0


def test_failures_are_counted_by_component() -> None:
    metrics = Metrics([])
    metrics.backend_failure("files")
    metrics.observer_failure('an "odd"\nname')
    assert value(metrics, "pressroom_backend_failures_total", backend="files") == 1
    assert value(metrics, "pressroom_observer_failures_total", observer='an "odd"\nname') == 1


def test_executors_are_read_when_the_metrics_are_requested() -> None:
    metrics = Metrics([], Busy())
    assert value(metrics, "pressroom_queue_length", executor="process") == 7
    assert value(metrics, "pressroom_running", executor="async") == 3
    assert value(metrics, "pressroom_running", executor="thread") == 0


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=200))
def test_nothing_that_a_client_sends_makes_a_time_series(names: list[tuple[str, str, str]]) -> None:
    metrics = Metrics(["known"])
    for tool, code, _ in names:
        metrics.call(tool, code, 0.1)
        metrics.rendered(tool, 0.1)
        metrics.cache(tool, hit=True)
        metrics.limited(tool)
    labels = {dict(labels).get("tool", "other") for _, labels in read(metrics)}
    codes = {dict(labels).get("code", "other") for _, labels in read(metrics)}
    assert labels <= {"known", "other"}
    assert codes <= {"other"} | {"ok"} | {code for _, code, _ in names}
    assert len(codes) <= 20


def test_an_unknown_tool_is_counted_as_other() -> None:
    metrics = Metrics(["known"])
    metrics.call("../../etc", "made_up", 0.1)
    metrics.limited("../../etc")
    assert value(metrics, "pressroom_requests_total", tool="other", code="other") == 1
    assert value(metrics, "pressroom_limited_total", tool="other") == 1


def test_surplus_observers_are_counted_together() -> None:
    metrics = Metrics([])
    for number in range(1000):
        metrics.observer_failure(f"observer {number}")
    failures = {key: number for key, number in read(metrics).items() if key[0] == "pressroom_observer_failures_total"}
    assert len(failures) <= 65
    assert sum(failures.values()) == 1000


def test_two_hosts_in_one_process_are_counted_separately() -> None:
    first, second = Metrics(["a"]), Metrics(["a"])
    first.limited("a")
    assert value(first, "pressroom_limited_total", tool="a") == 1
    assert value(second, "pressroom_limited_total", tool="a") == 0


def test_every_metric_has_a_known_prefix_and_help() -> None:
    metrics = Metrics(["a"], Busy())
    metrics.call("a", "ok", 0.1)
    families = [*text_string_to_metric_families(metrics.render().decode())]
    assert {family.name.split("_")[0] for family in families} == {"pressroom", "process", "python"}
    assert all(family.documentation and family.type != "unknown" for family in families)
    assert not [name for name, _ in read(metrics) if name.endswith("_created")]


def test_calls_of_concurrent_threads_are_all_counted() -> None:
    metrics = Metrics(["a"])

    def work() -> None:
        for _ in range(500):
            metrics.call("a", "ok", 0.1)
            metrics.backend_failure("files")

    threads: list[Any] = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert value(metrics, "pressroom_requests_total", tool="a", code="ok") == 4000
    assert value(metrics, "pressroom_backend_failures_total", backend="files") == 4000
