"""Displaying the configuration and its JSON Schema."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pressroom.config import InvalidConfig, Settings, load
from pressroom.config.display import MASK, as_data, json_schema, listed, settings_schema
from pressroom.sdk import PluginConfig
from pydantic import SecretStr, ValidationError

SECRETS = {
    "secret_key": "one-of-the-hunter2",
    "server": {"forwarded_secret": "two-hunter2"},
    "storage": {
        "redis": "redis://u:three-hunter2@h",
        "s3": {
            "access_key_id": "four-hunter2",
            "secret_access_key": "five-hunter2",
            "endpoint_url": "http://u:six-hunter2@h",
        },
    },
    "metrics": {"token": "seven-hunter2"},
    "plugins": {"shout": {"config": {"password": "eight-hunter2", "nested": {"list": ["nine-hunter2"]}, "volume": 11}}},
}


def test_no_secret_is_shown() -> None:
    text = json.dumps(as_data(Settings.model_validate(SECRETS)))
    assert "hunter2" not in text
    assert text.count(MASK) == 9


def test_non_secrets_are_shown_and_unset_values_are_null() -> None:
    data = as_data(Settings.model_validate(SECRETS))
    assert data["storage"]["s3"]["endpoint_url"] == f"http://{MASK}@h"
    assert data["plugins"]["shout"]["config"]["volume"] == 11
    assert data["server"]["port"] == 8000
    assert data["metrics"]["port"] is None
    assert as_data(Settings())["secret_key"] is None


def test_a_plugins_model_defines_which_strings_are_secret() -> None:
    class ShoutConfig(PluginConfig):
        greeting: str = "hi"
        token: SecretStr = SecretStr("")

    settings = Settings.model_validate({"plugins": {"shout": {"config": {"greeting": "hello", "token": "hunter2"}}}})
    data = as_data(settings, {"shout": ShoutConfig(greeting="hello", token=SecretStr("hunter2"))})
    assert data["plugins"]["shout"]["config"] == {"greeting": "hello", "token": MASK}


def test_any_toml_value_can_be_shown_as_json() -> None:
    config = {"day": date(2026, 5, 31), "infinite": float("inf"), "list": [float("nan"), {"a": True}]}
    data = as_data(Settings.model_validate({"plugins": {"shout": {"config": config}}}))
    assert json.loads(json.dumps(data, allow_nan=False))["plugins"]["shout"]["config"] == {
        "day": "2026-05-31",
        "infinite": "inf",
        "list": ["nan", {"a": True}],
    }


def test_every_setting_is_listed_once_with_its_dotted_key() -> None:
    settings = Settings.model_validate({"tools": {"qr-code-generator": {"timeout": "5s"}}, "plans": {"free": {}}})
    rows = {row.key: row.text for row in listed(as_data(settings))}
    assert rows["tools.qr-code-generator.timeout"] == "5"
    assert rows["plans.free.tools"] == '["*"]'
    assert rows["logging.requests"] == "true"
    assert rows["base_url"] == ""
    assert len(rows) == len(listed(as_data(settings)))


validator = Draft202012Validator(json_schema())

durations = st.one_of(
    st.floats(-10, 1000, allow_nan=False), st.sampled_from(["90s", "1.5h", "500ms", "2w", "", "5 m", "s"])
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "server": st.fixed_dictionaries(
            {}, optional={"port": st.integers(-1, 70_000), "host": st.sampled_from(["", "::1"]), "prt": st.just(1)}
        ),
        "branding": st.fixed_dictionaries(
            {}, optional={"accent": st.sampled_from(["#fff", "#B9502A", 5]), "url": st.sampled_from(["http://a", "a"])}
        ),
        "logging": st.fixed_dictionaries({}, optional={"level": st.sampled_from(["info", "warn"])}),
        "storage": st.fixed_dictionaries(
            {},
            optional={
                "max_total_bytes": st.sampled_from(["5GB", "5tb", 0, -1]),
                "files": st.sampled_from(["s3:/", "x"]),
            },
        ),
        "tools": st.dictionaries(
            st.sampled_from(["qr-code-generator", "list_pages", "qr code", ""]),
            st.fixed_dictionaries(
                {}, optional={"rate_limit": st.sampled_from(["5/h", "often"]), "enabled": st.booleans()}
            ),
            max_size=2,
        ),
        "plugins": st.dictionaries(
            st.sampled_from(["shout", "Shout"]), st.fixed_dictionaries({}, optional={"config": st.just({"a": 1})})
        ),
        "oops": st.just(1),
    },
)


@given(document=documents)
def test_the_schema_and_the_loader_accept_the_same_documents(document: dict[str, Any]) -> None:
    try:
        Settings.model_validate(document)
    except ValidationError:
        assert not validator.is_valid(document)
    else:
        assert validator.is_valid(document)


@given(duration=durations)
@pytest.mark.parametrize("key", [("tools", "qr", "timeout"), ("server", "request_timeout")])
def test_the_schema_takes_every_duration_that_the_loader_takes(key: tuple[str, ...], duration: Any) -> None:
    document: Any = duration
    for part in reversed(key):
        document = {part: document}
    try:
        Settings.model_validate(document)
    except ValidationError:
        # A schema cannot express the bounds of a duration written as a string.
        assert isinstance(duration, str) or not validator.is_valid(document)
    else:
        assert validator.is_valid(document)


def test_the_schema_describes_every_setting() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert '"null"' not in json.dumps(json_schema())
    schema = settings_schema()
    tables = [schema, *schema["$defs"].values()]
    undescribed = [
        name
        for table in tables
        for name, setting in table["properties"].items()
        if not setting.get("description") and "$ref" not in setting
    ]
    assert undescribed == []


REFERENCES: Final = [
    {"$file": "value"},
    {"$env": "VALUE"},
    {},
    {"$file": ""},
    {"$file": 1},
    {"$file": "value", "$env": "VALUE"},
    {"$files": "value"},
]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("secret_key", "a long enough key, which nobody guesses"),
        ("server.port", "8080"),
        ("server", '{"port": 8080}'),
        ("server.request_timeout", "1m"),
        ("mcp.allowed_origins", '["https://a.example"]'),
        ("storage.s3.secret_access_key", "sesame"),
        ("plans.free.quotas", '{"articles": 5}'),
        ("tools.list_pages.enabled", "false"),
        ("plugins.shout.enabled", "true"),
        ("plugins.shout.config.password", "sesame"),
    ],
)
@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_the_schema_and_the_loader_accept_the_same_references(
    key: str, text: str, reference: dict[str, Any], tmp_path: Path
) -> None:
    value = tmp_path / "value"
    value.write_text(text)
    if reference.get("$file") == "value":
        reference = {**reference, "$file": str(value)}
    document: Any = reference
    for part in reversed(key.split(".")):
        document = {part: document}
    file = tmp_path / "pressroom.toml"
    file.write_text(toml_of(key, reference))
    free = key.startswith("plugins.shout.config.")  # only the plugin defines which keys are allowed there
    try:
        load(file, environ={"VALUE": text})
    except InvalidConfig:
        assert free or not validator.is_valid(document)
    else:
        assert validator.is_valid(document)


def test_a_list_item_may_be_a_reference() -> None:
    assert validator.is_valid({"mcp": {"allowed_origins": ["https://a.example", {"$env": "ORIGIN"}]}})
    assert not validator.is_valid({"mcp": {"allowed_origins": [{"$env": 5}]}})


def toml_of(key: str, table: dict[str, Any]) -> str:
    pairs = ", ".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items())
    return f"{key} = {{ {pairs} }}\n"
