"""Hooks for rate limits and cache rules: their effects, and containment of their failures."""

import json
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator
from pressroom.errors import ConfigError
from support.shared_hooks import AUTHENTICATOR, SHOUT, Plugins, code, command, shout


def test_hook_rate_limits(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_rate_limits():
    return [RateLimit("burst", lambda tool, plan: per_minute(2) if "loud" in tool.tags else None)]
"""
    host = plugins.start(source)

    first, second, third = (shout(host, text) for text in "abc")
    assert [response.json()["meta"]["rateLimit"]["remaining"] for response in (first, second)] == [1, 0]
    assert code(third) == (429, "rate_limited")
    assert third.json()["meta"]["rateLimit"]["limit"] == 2
    assert 0 < third.json()["error"]["retryAfter"] <= 60
    descriptor = httpx.get(f"{host.url}/tools/shout/api").json()["data"]
    assert descriptor["rateLimit"] == {"requests": 100, "windowSec": 3600}


def test_a_call_refused_by_one_limit_costs_nothing_of_the_others(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_rate_limits():
    return [
        RateLimit("a day", lambda tool, plan: per_day(50), by_subject),
        RateLimit("burst", lambda tool, plan: per_minute(1) if tool.name == "shout" else None),
    ]
"""
    host = plugins.start(source)
    limiter = host.host.services.limiter
    (rule,) = (
        rule
        for rule in host.host.services.catalog.plans["anonymous"].tools["shout"].limits
        if rule.name.endswith("a day")
    )

    assert [shout(host, text).status_code for text in "abcd"] == [200, 429, 429, 429]
    status = host.run(limiter.peek(rule.rate, f"{rule.name}\nshout\n127.0.0.1"))
    assert status.remaining == 49


def test_a_failing_key_function_of_a_limit_is_an_error_that_costs_nothing(plugins: Plugins) -> None:
    source = """
BROKEN = []

def key(caller):
    if BROKEN:
        raise RuntimeError("the secret ingredient is nutmeg")
    return caller.client_ip

@hookimpl
def pressroom_rate_limits():
    return [RateLimit("odd", lambda tool, plan: per_day(50), key)]
"""
    host = plugins.start(source)
    assert shout(host, "before").json()["meta"]["rateLimit"]["remaining"] == 49

    plugins.module.BROKEN.append(True)
    assert code(shout(host, "during")) == (500, "internal_error")
    assert code(httpx.post(host.url + SHOUT, json={})) == (400, "validation_error")
    plugins.module.BROKEN.clear()

    assert shout(host, "after").json()["meta"]["rateLimit"]["remaining"] == 48
    default = host.host.services.catalog.plans["anonymous"].tools["shout"].limits[0]
    assert host.run(host.host.services.limiter.peek(default.rate, "default\nshout\n127.0.0.1")).remaining == 98


def test_hook_cache_rules(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_cache_rules():
    return [CacheRule("never loud", lambda tool, plan: CachePolicy(0) if "loud" in tool.tags else None)]
"""
    host = plugins.start(source)

    assert [shout(host).json()["data"]["cached"] for _ in range(3)] == [False] * 3
    assert plugins.module.SEEN == ["hello"] * 3
    text = [httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).json() for _ in range(2)]
    assert [body["data"]["cached"] for body in text] == [False, True]


LONG_AND_GENEROUS = """
@hookimpl
def pressroom_rate_limits():
    return [
        RateLimit("generous", lambda tool, plan: per_hour(5000)),
        RateLimit("daily", lambda tool, plan: per_day(7000)),
    ]

@hookimpl
def pressroom_cache_rules():
    return [CacheRule("long", lambda tool, plan: CachePolicy(200_000))]
"""


def test_a_limit_and_a_cache_rule_of_a_plugin_replace_those_of_the_host(plugins: Plugins) -> None:
    host = plugins.start(LONG_AND_GENEROUS, limits={"default_limit": "generous"}, cache={"default_rule": "long"})

    assert shout(host).json()["meta"]["rateLimit"]["limit"] == 5000
    tool = host.host.services.catalog.plans["anonymous"].tools["shout"]
    assert [rule.name.partition(": ")[2] for rule in tool.limits] == ["generous", "daily"]
    assert tool.cache.seconds == 200_000


NO_LIMIT = """
@hookimpl
def pressroom_rate_limits():
    return [RateLimit("none", lambda tool, plan: None)]
"""


def test_a_tool_without_a_limit_has_a_page(plugins: Plugins) -> None:
    host = plugins.start(NO_LIMIT, limits={"default_limit": "none"})

    assert httpx.get(f"{host.url}/tools").status_code == 200
    page = httpx.get(f"{host.url}/tools/shout").text
    assert "The number of requests is not limited." in page
    assert "RateLimit-Remaining" not in page
    submitted = httpx.post(f"{host.url}/tools/shout", data={"text": "hi"})
    assert "requests left" not in submitted.text


def test_openapi_describes_a_tool_without_a_limit(plugins: Plugins) -> None:
    host = plugins.start(NO_LIMIT, limits={"default_limit": "none"})
    descriptor = httpx.get(f"{host.url}/tools/shout/api").json()
    assert descriptor["data"]["rateLimit"] is None

    document = httpx.get(f"{host.url}/openapi.json").json()
    described = document["paths"]["/tools/shout/api"]["get"]["responses"]["200"]["content"]["application/json"]
    Draft202012Validator({**described["schema"], "components": document["components"]}).validate(descriptor)


def test_a_limit_and_a_cache_rule_that_are_not_selected_add_to_those_of_the_host(plugins: Plugins) -> None:
    host = plugins.start(LONG_AND_GENEROUS)

    assert shout(host).json()["meta"]["rateLimit"]["limit"] == 100
    tool = host.host.services.catalog.plans["anonymous"].tools["shout"]
    assert (len(tool.limits), tool.cache.seconds) == (3, 75_600)


@pytest.mark.parametrize(
    ("section", "key", "name", "meant"),
    [("limits", "default_limit", "generos", "generous"), ("cache", "default_rule", "lang", "long")],
)
def test_an_unknown_limit_or_cache_rule_stops_the_start(
    plugins: Plugins, section: str, key: str, name: str, meant: str
) -> None:
    with pytest.raises(ConfigError, match=rf"{section}\.{key}: there is no '{name}'") as exc_info:
        plugins.start(LONG_AND_GENEROUS, **{section: {key: name}})
    assert exc_info.value.hint == f"did you mean {meant!r}?"


def test_doctor_reports_what_has_no_effect_because_of_a_replaced_limit(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write(LONG_AND_GENEROUS)
    config = (
        "[limits]\ndefault_limit = 'generous'\n[cache]\ndefault_rule = 'short'\n"
        "[plans.staff.rate_limits]\nshout = '5/hour'\n"
    )
    completed = command(plugins, tmp_path, "doctor", "--json", config=config)

    rows = json.loads(completed.stdout)["checks"]
    assert "plans.staff.rate_limits: has no effect beside [limits] default_limit" in [row["message"] for row in rows]
    (finding,) = (row for row in rows if row["check"] == "choices")
    assert (finding["status"], finding["message"]) == ("error", "cache.default_rule: there is no 'short'")


def test_results_of_one_account_are_not_served_to_another(plugins: Plugins) -> None:
    source = (
        AUTHENTICATOR
        + """
@hookimpl
def pressroom_cache_rules():
    return [CacheRule("own", lambda tool, plan: CachePolicy(60, "subject"))]
"""
    )
    host = plugins.start(source, plans={"staff": {}})

    texts = [shout(host, bearer=token, response="binary").text for token in ("badge_a", "badge_b", "badge_a", "")]
    assert texts == ["HELLO for badge_a", "HELLO for badge_b", "HELLO for badge_a", "HELLO for all"]
    assert len(plugins.module.SEEN) == 3
    assert len({shout(host, bearer=who).json()["data"]["id"] for who in ("badge_a", "badge_b", "")}) == 3
