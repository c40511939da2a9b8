"""The hook for lifespans: its effects, and containment of its failures."""

from importlib import import_module
from pathlib import Path

import httpx
import pytest
import structlog
from pressroom.errors import ConfigError
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.shared_hooks import Plugins, shout, status_of

LIFESPANS = """
def span(name, *, enter=None, leave=None):
    @asynccontextmanager
    async def live():
        SEEN.append(f"{name} opens")
        if enter is not None:
            raise enter
        try:
            yield
        finally:
            SEEN.append(f"{name} closes")
        if leave is not None:
            raise leave
    return Lifespan(name, live)

@hookimpl
def pressroom_lifespan():
    return [SPANS]
"""


def test_hook_lifespan(plugins: Plugins) -> None:
    host = plugins.start(LIFESPANS.replace("SPANS", "span('one'), span('two'), span('three')"))
    shout(host)
    host.__exit__(None, None, None)

    assert plugins.module.SEEN[:4] == ["one opens", "two opens", "three opens", "hello"]
    assert plugins.module.SEEN[4:] == ["three closes", "two closes", "one closes"]


@pytest.mark.parametrize("error", ["ValueError('no')", "SystemExit(3)"])
def test_a_failed_lifespan_disables_its_plugin_and_those_that_require_it(plugins: Plugins, error: str) -> None:
    needing = plugins.write("")
    broken = plugins.write(LIFESPANS.replace("SPANS", f"span('one'), span('two', enter={error}), span('three')"))
    source = (plugins.folder / f"{needing}_module.py").read_text()
    source = source.replace('slug="shout"', 'slug="whisper"').replace(
        'summary="Text in capitals.")', f'summary="Text.", requires=("{broken}",))'
    )
    (plugins.folder / f"{needing}_module.py").write_text(source + LIFESPANS.replace("SPANS", "span('needing')"))
    host = plugins._start(plugins={broken: {}, needing: {"required": True}})

    assert status_of(host, broken)[:2] == ("broken", "lifespan")
    assert status_of(host, needing)[0] == "broken"
    assert shout(host).status_code == 404
    assert httpx.get(f"{host.url}/readyz").status_code == 503
    assert httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).status_code == 200
    host.__exit__(None, None, None)
    assert plugins.module.SEEN == ["one opens", "two opens", "one closes"]
    assert import_module(f"{needing}_module").SEEN == []


@pytest.mark.parametrize("first", ["needing", "required"])
def test_the_lifespans_of_required_plugins_begin_earlier_and_end_later(plugins: Plugins, first: str) -> None:
    """Which plugin has the lower ID makes no difference."""
    ids = {name: plugins.write("") for name in sorted(("needing", "required"), key=lambda name: name != first)}
    required, needing = (plugins.folder / f"{ids[name]}_module.py" for name in ("required", "needing"))
    lifespans = LIFESPANS.replace("SPANS", "span('needing')")
    source = needing.read_text().replace('slug="shout"', 'slug="whisper"')
    source = source.replace('summary="Text in capitals.")', f'summary="Text.", requires=("{ids["required"]}",))')
    needing.write_text(f"{source}from {required.stem} import SEEN\n{lifespans}")
    required.write_text(required.read_text() + LIFESPANS.replace("SPANS", "span('required')"))
    plugins._start(plugins={id_: {} for id_ in ids.values()}).__exit__(None, None, None)
    seen = import_module(required.stem).SEEN
    assert seen == ["required opens", "needing opens", "needing closes", "required closes"]


def test_a_lifespan_that_fails_at_the_end_leaves_nothing_open(plugins: Plugins) -> None:
    host = plugins.start(LIFESPANS.replace("SPANS", "span('one'), span('two', leave=ValueError('no'))"))

    with structlog.testing.capture_logs() as logs, pytest.raises(ValueError, match="no"):
        host.__exit__(None, None, None)

    (failed,) = (line for line in logs if line["event"] == "a plugin failed")
    assert (failed["plugin"], failed["point"], failed["name"]) == (plugins.id, "lifespan", "two")
    assert "ValueError: no" in failed["error"]
    assert plugins.module.SEEN == ["one opens", "two opens", "two closes", "one closes"]


def test_a_failed_start_closes_what_was_open(plugins: Plugins, tmp_path: Path) -> None:
    id_ = plugins.write(LIFESPANS.replace("SPANS", "span('one')"))
    config = {"plugins": {id_: {}}, "cache": {"backend": "missing"}}

    with pytest.raises(ConfigError, match=r"cache.backend"), RunningHost(settings_for_test(config, tmp_path / "data")):
        pass

    assert plugins.module.SEEN == ["one opens", "one closes"]
