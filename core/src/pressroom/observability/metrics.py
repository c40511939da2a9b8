"""The server's metrics, for Prometheus.

Each host has its own registry. The values of labels are limited: tools that are not in the catalog count as `other`,
so that no request can create a new time series. Names and units follow the conventions of Prometheus: seconds, and
`_total` for counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pressroom.errors import CallError
from pressroom.sdk import ExecutorName

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""The media type of the output of `Metrics.render`."""

OTHER: Final = "other"

_BACKENDS: Final = ("files", "cache", "limits", "database")
_EXECUTORS: Final[tuple[ExecutorName, ...]] = ("async", "thread", "process")
_MAX_NAMES: Final = 64
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_Metric = TypeVar("_Metric", bound=MetricWrapperBase)


class ExecutorState(Protocol):
    """The executors' counts of calls."""

    def queue_length(self, executor: ExecutorName) -> int:
        """Return the number of calls waiting for an executor."""

    def running(self, executor: ExecutorName) -> int:
        """Return the number of calls running in an executor."""


class PluginStates(Protocol):
    """The host's view of its plugins and templates."""

    def failures_of_plugins(self) -> Mapping[tuple[str, str, str], int]:
        """Return the number of failures by plugin, extension point and reason."""

    def active_plugins(self) -> Mapping[str, bool]:
        """Return whether each plugin that the operator has enabled works."""

    def failures_of_templates(self) -> Mapping[str, int]:
        """Return the number of failures of each of the operator's templates."""


class Metrics:
    """Counts calls and measures times. Every method can be called from any thread.

    `tools` lists the tools in the catalog. `executors`, `database_up` and `plugins` are read whenever the metrics are
    rendered.
    """

    def __init__(
        self,
        tools: Iterable[str],
        executors: ExecutorState | None = None,
        database_up: Callable[[], bool] | None = None,
        plugins: PluginStates | None = None,
    ) -> None:
        self.registry: CollectorRegistry = _Registry()
        self._tools = frozenset(tools)
        self._codes = frozenset({"ok", *_codes(CallError)})
        self._calls = self._counter("requests", "Tool calls by code: ok, or the code of the error.", "tool", "code")
        self._call_seconds = self._histogram("call_seconds", "Time from the arrival of a call to its response.")
        self._render_seconds = self._histogram("render_seconds", "Time to run a tool, including the wait for a worker.")
        self._hits = self._counter("cache_hits", "Calls whose result came from the cache.", "tool")
        self._misses = self._counter("cache_misses", "Calls that were not in the cache.", "tool")
        self._limited = self._counter("limited", "Calls refused by a rate limit.", "tool")
        self._backend_failures = self._counter("backend_failures", "Failed calls of a backend.", "backend")
        self._observer_failures = self._counter("observer_failures", "Failures of an observer.", "observer")
        self._schema_mismatch = Gauge(
            "schema_mismatch",
            "1 if the tables of a plugin do not match its version, which keeps the host from being ready.",
            ("plugin",),
            **self._options(),
        )
        for backend in _BACKENDS:
            self._backend_failures.of_few(backend)
        for tool in sorted(self._tools):
            # A rate can be computed only if the counter existed, at zero, before its first event.
            for counter in (self._hits, self._misses, self._limited):
                counter.of(tool)
        if executors is not None:
            self._watch(executors)
        if database_up is not None:
            gauge = Gauge("database_up", "Whether the database responds: 1 or 0.", **self._options())
            gauge.set_function(database_up)
        if plugins is not None:
            self.registry.register(_PluginCollector(plugins))
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def call(self, tool: str, code: str, seconds: float) -> None:
        """Count a finished call. `code` is `ok` or the stable error code; `seconds` is its total duration."""
        tool = self._tool_label(tool)
        self._calls.of(tool, code if code in self._codes else OTHER).inc()
        self._call_seconds.of(tool).observe(seconds)

    def rendered(self, tool: str, seconds: float) -> None:
        """Count a run of a tool and record its duration in seconds."""
        self._render_seconds.of(self._tool_label(tool)).observe(seconds)

    def cache(self, tool: str, *, hit: bool) -> None:
        """Count a cache hit or miss."""
        (self._hits if hit else self._misses).of(self._tool_label(tool)).inc()

    def limited(self, tool: str) -> None:
        """Count a call that a rate limit refused."""
        self._limited.of(self._tool_label(tool)).inc()

    def backend_failure(self, backend: str) -> None:
        """Count a failed call of a backend, such as `files`, `cache` or `limits`."""
        self._backend_failures.of_few(backend).inc()

    def observer_failure(self, observer: str) -> None:
        """Count a failure of an observer."""
        self._observer_failures.of_few(observer).inc()

    def schema(self, plugin: str, *, matches: bool) -> None:
        """Record whether the tables of a plugin match the revision that its code needs."""
        self._schema_mismatch.labels(plugin).set(not matches)

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format, version 0.0.4."""
        return generate_latest(self.registry)

    def _tool_label(self, tool: str) -> str:
        return tool if tool in self._tools else OTHER

    def _counter(self, name: str, text: str, *labels: str) -> _Children[Counter]:
        return _Children(Counter(f"{name}_total", text, labels, namespace="pressroom", registry=self.registry))

    def _histogram(self, name: str, text: str) -> _Children[Histogram]:
        options: dict[str, Any] = {"namespace": "pressroom", "registry": self.registry, "buckets": _SECONDS}
        return _Children(Histogram(name, text, ("tool",), **options))

    def _options(self) -> dict[str, Any]:
        return {"namespace": "pressroom", "registry": self.registry}

    def _watch(self, executors: ExecutorState) -> None:
        gauges: tuple[tuple[str, str, Callable[[ExecutorName], int]], ...] = (
            ("queue_length", "Calls currently waiting for an executor.", executors.queue_length),
            ("running", "Calls currently running in an executor.", executors.running),
        )
        for name, text, read in gauges:
            gauge = Gauge(name, text, ("executor",), namespace="pressroom", registry=self.registry)
            for executor in _EXECUTORS:
                gauge.labels(executor).set_function(partial(read, executor))


class _Children(Generic[_Metric]):
    """The children of a labelled metric, each bound once, since binding costs more than counting."""

    def __init__(self, metric: _Metric) -> None:
        self._metric = metric
        self._bound: dict[tuple[str, ...], _Metric] = {}

    def of(self, *labels: str) -> _Metric:
        """Return the child with these labels."""
        child = self._bound.get(labels)
        if child is None:
            child = self._bound[labels] = self._metric.labels(*labels)
        return child

    def of_few(self, name: str) -> _Metric:
        """Return the child of that name, or that of `other` once there are 64 names."""
        return self.of(name if (name,) in self._bound or len(self._bound) < _MAX_NAMES else OTHER)


class _PluginCollector(Collector):
    """Collects the failure counts and states of plugins and templates on each scrape."""

    def __init__(self, plugins: PluginStates) -> None:
        self._plugins = plugins

    def collect(self) -> Iterator[Metric]:
        failures = CounterMetricFamily(
            "pressroom_plugin_failures",
            "Failures of plugins, by extension point and reason: failed, timeout or blocked.",
            labels=("plugin", "point", "reason"),
        )
        for labels, number in sorted(self._plugins.failures_of_plugins().items()):
            failures.add_metric(labels, number)
        active = GaugeMetricFamily(
            "pressroom_plugin_active",
            "1 if a plugin works, 0 if it is left out because it failed.",
            labels=("plugin",),
        )
        for plugin, works in sorted(self._plugins.active_plugins().items()):
            active.add_metric((plugin,), works)
        templates = CounterMetricFamily(
            "pressroom_template_failures",
            "Pages rendered with the original template because the operator's template failed.",
            labels=("template",),
        )
        for template, number in sorted(self._plugins.failures_of_templates().items()):
            templates.add_metric((template,), number)
        yield failures
        yield active
        yield templates


class _Registry(CollectorRegistry):
    """Omits the `_created` series, which would double the number of series."""

    def collect(self) -> Iterator[Metric]:
        for metric in super().collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


def _codes(kind: type[CallError]) -> Iterator[str]:
    yield kind.code
    for derived in kind.__subclasses__():
        yield from _codes(derived)
