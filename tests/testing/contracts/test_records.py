"""The record contract detects each violation, and reports the promise, its location and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final

import pytest
from pressroom.sdk import Route
from pressroom.testing import RunningHost, contracts, settings_for_test
from pressroom.testing.conformance import check_records
from pressroom.testing.contracts import SUITES, ContractSuite, Finding, check_authenticator
from pressroom.testing.contracts.callers import AUTHENTICATOR, AUTHORIZER
from pressroom.testing.contracts.functions import (
    BRANDER,
    COMMAND,
    DOCTOR_CHECK,
    INDEX_ENTRIES,
    OBSERVER,
    OVERVIEW_SECTION,
    PUBLISHING_TARGETS,
    STORAGE_KIND,
)
from pressroom.testing.contracts.generator import GENERATOR
from pressroom.testing.contracts.job import JOB, check_job
from pressroom.testing.contracts.mcp_tool import MCP_TOOL
from pressroom.testing.contracts.page import PAGE, ROUTE
from pressroom.testing.contracts.records import check_record
from support.contracts import assert_broken
from support.third_party import write_plugin

FOLDER: Final = Path(__file__).parent / "plugins"

BROKEN: Final[Sequence[tuple[Any, str, str]]] = [
    (GENERATOR, "texts", "terse"),
    (GENERATOR, "examples", "bare"),
    (GENERATOR, "examples_succeed", "choosy"),
    (GENERATOR, "cached", "forgetful"),
    (GENERATOR, "editable", "misplaced"),
    (GENERATOR, "unknown_field", "lenient"),
    (GENERATOR, "wrong_types", "sloppy"),
    (MCP_TOOL, "texts", "terse_tool"),
    (MCP_TOOL, "unknown_field", "lenient_tool"),
    (MCP_TOOL, "wrong_types", "sloppy_tool"),
    (MCP_TOOL, "documented_values", "choosy_tool"),
    (MCP_TOOL, "result", "wordless_tool"),
    (PAGE, "signed_in", "/dashboard/fails"),
    (PAGE, "html", "/dashboard/unsound"),
    (PAGE, "forms", "/dashboard/forms"),
    (ROUTE, "handled", "/fails"),
    (BRANDER, "block", "brander not-json"),
    (BRANDER, "same", "brander counts"),
    (OBSERVER, "observes", "observer demands-a-subject"),
    (OBSERVER, "not_in_the_way", "observer blocks"),
    (INDEX_ENTRIES, "entries", "index Titleless"),
    (INDEX_ENTRIES, "bounded", "index Endless"),
    (INDEX_ENTRIES, "texts", "index Bytes"),
    (INDEX_ENTRIES, "shown", "index Flapping"),
    (DOCTOR_CHECK, "checks", "check no hint"),
    (STORAGE_KIND, "measures", "storage nothing"),
    (PUBLISHING_TARGETS, "names", "publishing targets somebody"),
    (OVERVIEW_SECTION, "section", "overview section unclosed"),
    (COMMAND, "help", "command silent"),
    (JOB, "returns", "job {id}.returns_bytes"),
    (JOB, "twice", "job {id}.only_once"),
    (JOB, "interrupted", "job {id}.stubborn"),
]


@pytest.fixture(scope="module")
def host_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a function that starts a host with one of the broken plugins, and returns both host and plugin ID."""
    started: list[RunningHost] = []
    with pytest.MonkeyPatch.context() as patch:

        def start(name: str) -> tuple[RunningHost, str]:
            folder = tmp_path_factory.mktemp("broken")
            patch.syspath_prepend(str(folder))
            id_ = write_plugin(folder, (FOLDER / f"{name}.txt").read_text())
            config = {"plugins": {id_: {}}, "builtin_plugins": False}
            running = RunningHost(settings_for_test(config, folder / "data"))
            running.__enter__()
            started.append(running)
            return running, id_

        yield start
        for running in started:
            running.__exit__(None, None, None)


@pytest.fixture(scope="module")
def found(host_of: Any) -> tuple[list[Finding], str]:
    """Return the findings for a plugin that breaks nearly every promise, and the plugin's ID."""
    running, id_ = host_of("broken")
    assert [record.error for record in running.host.compiled.plugins.failed] == []
    return list(check_records(running, id_)), id_


@pytest.mark.parametrize(
    ("suite", "name", "where"), BROKEN, ids=[f"{suite.contract}-{name}" for suite, name, _ in BROKEN]
)
def test_a_record_that_breaks_a_promise_gets_a_finding(
    found: tuple[list[Finding], str], suite: Any, name: str, where: str
) -> None:
    findings, id_ = found
    [promise] = [promise for promise in suite.promises if promise.name == name]
    of_record = [finding for finding in findings if finding.where == where.replace("{id}", id_)]
    assert_broken(promise, of_record, contract=suite.contract)


def test_every_promise_of_a_record_has_an_example_that_breaks_it() -> None:
    broken = {(suite.contract, name) for suite, name, _ in BROKEN}
    suites = {suite.contract: suite for suite, _, _ in BROKEN}
    by_the_host = {
        ("generator", "page"),
        ("generator", "delivered"),
        ("MCP tool", "listed"),
        ("dashboard page", "signed_out"),
        ("dashboard page", "csrf"),
    }
    promised = {(suite.contract, promise.name) for suite in suites.values() for promise in suite.promises}
    assert promised - broken == by_the_host


def test_the_hosts_own_work_for_pages_is_checked_too(host_of: Any) -> None:
    running, id_ = host_of("open_page")
    routes = running.host.compiled.plugins.contributions.of(Route)
    [route] = [contribution.record for contribution in routes if contribution.plugin == id_]
    promises = {finding.promise for finding in check_record(PAGE, running, id_, route, "open")}
    assert "a user who is not signed in is redirected to the sign-in page" in promises
    assert "a form without its token is refused" in promises


AUTHENTICATORS: Final = {
    "missing": "demanding",
    "other_kind": "greedy",
    "odd": "brittle",
    "at_once": "mixing",
    "valid": "nameless",
    "wrong": "silent",
}
VALID: Final = {"x-key": "valid"}
WRONG: Final = {"x-key": "wrong"}


@pytest.fixture(scope="module")
def with_authenticators(host_of: Any) -> RunningHost:
    running, _ = host_of("authenticators")
    assert isinstance(running, RunningHost)
    return running


@pytest.mark.parametrize("promise", AUTHENTICATOR.promises, ids=str)
def test_an_authenticator_that_breaks_a_promise_gets_a_finding(with_authenticators: RunningHost, promise: Any) -> None:
    findings = check_authenticator(with_authenticators, AUTHENTICATORS[promise.name], valid=VALID, wrong=WRONG)
    assert_broken(promise, findings, contract="authenticator")


def test_a_correct_authenticator_gets_no_findings(host_of: Any) -> None:
    running, _ = host_of("sound_authenticator")
    assert check_authenticator(running, "sound", valid=VALID, wrong=WRONG) == []
    with pytest.raises(LookupError, match="no active plugin offers the authenticator 'other'"):
        check_authenticator(running, "other")


@pytest.mark.parametrize(
    ("promise", "plugin"), list(zip(AUTHORIZER.promises, ["raising", "fickle"], strict=True)), ids=str
)
def test_an_authorizer_that_breaks_a_promise_gets_a_finding(host_of: Any, promise: Any, plugin: str) -> None:
    running, id_ = host_of(f"{plugin}_authorizer")
    findings = [finding for finding in check_records(running, id_) if finding.contract == "authorizer"]
    assert_broken(promise, findings, contract="authorizer")


def test_a_job_is_checked_with_a_payload(host_of: Any) -> None:
    running, id_ = host_of("sound_job")
    assert check_job(running, f"{id_}.count", {"words": "one two"}) == []
    [finding] = [
        finding for finding in check_job(running, f"{id_}.count", {}) if finding.promise.startswith("it returns")
    ]
    assert "KeyError: 'words'" in finding.seen
    with pytest.raises(LookupError):
        check_job(running, "no.such")


def test_every_contract_is_listed_in_the_reference() -> None:
    modules = [import_module(f"{contracts.__name__}.{module.name}") for module in iter_modules(contracts.__path__)]
    names = {
        value.contract for module in modules for value in vars(module).values() if isinstance(value, ContractSuite)
    }
    assert names == {suite.contract for suite in SUITES}
