"""Languages added by third parties: they work like built-in ones, and their faults are contained.

The language is the one in the guide, docs/how-to/add-a-language.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.discovery import PluginRecord
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content import diagnosis
from pressroom_content.contract.languages import built_in_codes
from pressroom_content.language import SUPPORTED, language_pack, stem, supported
from pressroom_content.language.contributed import ContributedLanguage, in_use, use
from pressroom_content.language.grammar import snowball
from pressroom_content.language.rules import LanguageRules, read_rules
from support.content_client import Client, client_of
from support.doc_examples import DOCS, blocks
from support.installing import install, on_path
from support.people import BrowserWithoutScreen

GUIDE = {
    block.mark.removeprefix("file "): block.text
    for block in blocks((DOCS / "how-to/add-a-language.md").read_text(encoding="utf-8"))
    if block.mark.startswith("file ")
}
RULES = GUIDE["pressroom_esperanto/eo.toml"]
TEXT = """\
Bona pano bezonas tempon. Tamen multaj homoj ne atendas. Unue la faruno estas miksata kun akvo. Poste oni aldonas salon.

La panoj de nia urbo estas famaj. Ĉiu bakisto havas sian recepton, ĉar la gustoj malsamas. Ekzemple, iuj uzas sekalon.
"""

_numbers = count(1)


@contextmanager
def installed(folder: Path, *, code: str = "eo", rules: str = RULES, stemmer: str | None = None) -> Iterator[str]:
    """Install a modified copy of the guide's plugin under a unique ID, and yield the ID."""
    id_ = f"eo_{next(_numbers)}"
    files = {path.replace("pressroom_esperanto", f"acme_{id_}"): text for path, text in GUIDE.items()}
    files[f"acme_{id_}/eo.toml"] = rules
    if stemmer is not None:
        files[f"acme_{id_}/stemming.py"] = stemmer
    source = files[f"acme_{id_}/__init__.py"].replace("pressroom_esperanto", f"acme_{id_}")
    source = source.replace('id="esperanto"', f'id="{id_}"').replace('Language("eo"', f'Language("{code}"')
    files[f"acme_{id_}/__init__.py"] = source
    install(folder, f"acme-{id_}", files, {id_: f"acme_{id_}"})
    with on_path(folder):
        yield id_


@contextmanager
def running(folder: Path, *ids: str) -> Iterator[Client]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, "seo": {}, **{id_: {} for id_ in ids}}}
    with RunningHost(settings_for_test(config, folder / "data")) as host:
        yield client_of(host, "ada@example.org")


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("esperanto")
    with installed(folder / "site") as id_, running(folder, id_) as client:
        yield client


def judged(client: Client, **article: Any) -> dict[str, Any]:
    request = {"title": "Bona pano", "body": TEXT, "language": "eo", "keyphrase": "bona pano", **article}
    result: dict[str, Any] = client.data("check_blog_seo", article=request)
    return result


def check_of(result: dict[str, Any], id_: str) -> dict[str, Any]:
    (check,) = (check for check in result["checks"] if check["id"] == id_)
    return dict(check)


def test_an_article_is_checked_by_the_rules_of_the_plugin(ada: Client) -> None:
    result = judged(ada, body=TEXT * 12)
    assert not [note for note in result["notes"] if "rules" in note]
    for id_ in ("reading_ease", "passive_voice", "transition_words"):
        assert check_of(result, id_)["status"] != "skipped", id_


def test_the_plugins_stemmer_finds_inflected_keyphrases(ada: Client) -> None:
    check = check_of(judged(ada, body="Niaj panoj estas bonaj. Bonan panon ĉiu ŝatas."), "keyphrase_in_intro")
    assert check["status"] == "good"


def test_a_stored_article_is_checked_in_its_language(ada: Client) -> None:
    article = ada.data("create_content", title="Bona pano", body=TEXT, language="eo-FR", keyphrase="bona pano")
    result = ada.data("check_blog_seo", content_id=article["content_id"])
    assert result["language"] == "eo"
    assert check_of(result, "reading_ease")["status"] != "skipped"


def test_a_website_can_use_the_language(ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Notoj")["website_id"]
    ada.data("update_website_settings", website_id=website, settings={"language": "eo"})
    result = judged(ada, language=None, website_id=website)
    assert result["language"] == "eo"
    with BrowserWithoutScreen(ada.host) as browser:
        browser.enter(ada.host, ada.host.run(ada.host.host.accounts.users.get(ada.user_id)))
        assert "Dutch, English, Esperanto, French" in browser.get(f"/dashboard/websites/{website}").text


def test_for_other_languages_those_with_rules_are_listed(ada: Client) -> None:
    (note,) = (note for note in judged(ada, language="tlh")["notes"] if "rules" in note)
    assert "de, en, eo, es" in note


def test_the_built_in_languages_are_unaffected(ada: Client) -> None:
    body = "Good breads need time. " * 20
    assert judged(ada, title="Good bread", body=body, language="en", keyphrase="good bread")["language"] == "en"
    assert stem("breads", "en") == "bread"


async def test_doctor_names_the_language_and_its_plugin(tmp_path: Path) -> None:
    with installed(tmp_path / "site") as id_:
        config = {"builtin_plugins": False, "plugins": {"content": {}, id_: {}}}
        findings = await diagnose(LoadedApp(settings_for_test(config, tmp_path / "data")), lambda: None)
    (result,) = (finding.result for finding in findings if finding.check == "content: languages")
    assert f"nl, pt, eo (plugin {id_})" in result.message


@pytest.mark.parametrize(
    ("stemmer", "expected"),
    [
        ("def stem(word):\n    raise ZeroDivisionError('no way')\n", "ZeroDivisionError: no way"),
        ("import os\n\ndef stem(word):\n    os._exit(3)\n", "it ended its process with 3"),
        ("import time\n\ndef stem(word):\n    time.sleep(600)\n", "no response within 0.5 s"),
    ],
    ids=["raises", "ends its process", "hangs"],
)
async def test_doctor_reports_a_broken_stemmer(
    tmp_path: Path, stemmer: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "_STEMMER_SECONDS", 0.5 if "sleep" in stemmer else 60.0)
    with installed(tmp_path / "site", stemmer=stemmer) as id_:
        config = {"builtin_plugins": False, "plugins": {"content": {}, id_: {}}}
        plugins = LoadedApp(settings_for_test(config, tmp_path / "data")).plugins
        result = await diagnosis.languages_result(plugins.contexts["content"])
    assert result.status == "error"
    assert "eo is left out" in result.message
    assert f"plugin {id_}: " in result.message
    assert expected in result.message
    assert result.hint


def test_the_languages_are_removed_when_the_server_stops(tmp_path: Path) -> None:
    with installed(tmp_path / "site", code="epo") as id_, running(tmp_path, id_):
        assert "epo" in supported()
        assert language_pack("epo-FR") is not None
    assert "epo" not in supported()
    assert language_pack("epo-FR") is None


def loaded(folder: Path, *ids: str) -> dict[str, PluginRecord]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, **{id_: {} for id_ in ids}}}
    return {record.id: record for record in LoadedApp(settings_for_test(config, folder / "data")).plugins.records}


def test_a_built_in_language_cannot_be_replaced(tmp_path: Path) -> None:
    with installed(tmp_path / "site", code="de") as id_:
        records = loaded(tmp_path, id_)
    assert (records[id_].status, records["content"].status) == ("conflict", "active")
    assert "the name de in pressroom_languages" in records[id_].error


def test_two_plugins_with_the_same_language_are_both_in_conflict(tmp_path: Path) -> None:
    with installed(tmp_path / "one") as first, installed(tmp_path / "two") as second:
        records = loaded(tmp_path, first, second)
    assert {records[first].status, records[second].status} == {"conflict"}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", "rules.name is missing"),
        ("name = ", "rules are not TOML"),
        (RULES.replace('name = "Esperanto"', ""), "rules.name is missing"),
        (RULES.replace("complex_syllables = 5", 'complex_syllables = "many"'), "rules.complex_syllables"),
        (RULES.replace('nucleus = "[aeiou]"', 'nucleus = "[aeiou"'), "rules.syllables.nucleus is not a regular"),
        (RULES.replace('exceptions = "tiu:2"', 'exceptions = "tiu"'), "'tiu' must be a word and its number"),
        (RULES.replace("articles = ", "artikles = "), "rules have no key artikles; the keys are name, function_words"),
        (RULES.replace("ne nur ... sed ankaŭ", "ne nur"), "two phrases with three dots"),
        (RULES.replace("max_between = 3", "max_between = -3"), "rules.passive.max_between"),
    ],
)
def test_invalid_rules_are_refused_with_their_key(tmp_path: Path, rules: str, expected: str) -> None:
    with installed(tmp_path / "site", rules=rules) as id_:
        records = loaded(tmp_path, id_)
    assert (records[id_].status, records["content"].status) == ("broken", "active")
    assert "language eo: rules" in records[id_].error
    assert expected in records[id_].error


@pytest.mark.parametrize(
    "stemmer",
    [
        "def stem(word):\n    raise ZeroDivisionError\n",
        "def stem(word):\n    return 7\n",
        "def stem(word):\n    return word * 100\n",
        "def stem(word):\n    return ''\n",
        "def stem(word):\n    raise SystemExit(3)\n",
        "import os\n\ndef stem(word):\n    os._exit(3)\n",
    ],
    ids=["raises", "number", "long", "empty", "exits", "ends its process"],
)
def test_a_broken_stemmer_disables_only_its_language(
    tmp_path: Path, stemmer: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with installed(tmp_path / "site", stemmer=stemmer) as id_, running(tmp_path, id_) as client:
        assert "eo" not in supported()
        (note,) = (note for note in judged(client)["notes"] if "rules" in note)
        assert "“eo” has no rules" in note
        assert judged(client, language="en")["language"] == "en"
    logged = capfd.readouterr()
    assert f"plugin={id_}" in logged.out + logged.err or f'"plugin": "{id_}"' in logged.out + logged.err


def test_a_stemmer_that_fails_later_loses_only_its_stems(tmp_path: Path) -> None:
    stemmer = GUIDE["pressroom_esperanto/stemming.py"] + "\n\n_whole = stem\n\n\n"
    stemmer += "def stem(word):\n    if word == 'famaj':\n        raise ZeroDivisionError\n    return _whole(word)\n"
    with installed(tmp_path / "site", stemmer=stemmer) as id_, running(tmp_path, id_) as client:
        result = judged(client, keyphrase="famaj urboj")
        assert check_of(result, "reading_ease")["status"] != "skipped"
        gate = client.host.host.compiled.gate
        assert gate.failures[id_, "extension", "failed"]
        assert (gate.latest[id_].call.name, "ZeroDivisionError" in gate.latest[id_].error) == ("stemmer eo", True)


def test_no_cached_stems_are_used_after_a_stemmer_failure() -> None:
    def stemmer(word: str) -> str:
        if word == "famaj":
            raise ZeroDivisionError
        return word.removesuffix("j").removesuffix("o")

    before = in_use()
    use([ContributedLanguage("acme", "eo", RULES, stemmer)])
    try:
        assert stem("panoj", "eo") == "pan"
        assert stem("famaj", "eo") == "famaj"
        assert (stem("panoj", "eo"), stem("pano", "eo")) == ("panoj", "pano")
    finally:
        use(before)


@pytest.mark.parametrize("code", built_in_codes())
def test_the_built_in_rules_have_the_form_required_of_plugins(code: str) -> None:
    assert code in SUPPORTED
    data = Path(str(__import__("pressroom_content").__file__)).parent / "language/data"
    assert read_rules((data / f"{code}.toml").read_text("utf-8"))["name"]


def test_the_guide_documents_every_key() -> None:
    page = (DOCS / "how-to/add-a-language.md").read_text(encoding="utf-8")
    assert [key for key in LanguageRules.model_fields if f"`{key}`" not in page and f"`[{key}]`" not in page] == []


def test_a_language_without_its_own_stemmer_uses_snowball() -> None:
    assert stem("panojn", "eo") == snowball("panojn", "eo")
