"""`pressroom new`: accepted names, the files it writes, and what remains after a failure."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from pressroom.cli import scaffolding
from pressroom.cli.scaffolding import KINDS, render_template
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS
from pressroom.sdk.plugin import PLUGIN_ID
from support.commands import Done, run_command, run_process
from support.distributions import REPOSITORY, clean_environment, run

MAX_LENGTH_NAME = "an-uncommonly-long-name-for-it"  # 30 characters
STANDARD_LIBRARY = ("json", "test", "types", "html")


def new(*arguments: str, cwd: Path) -> Done:
    return run_command(["new", *arguments], cwd=cwd, env=clean_environment())


def new_process(*arguments: str, cwd: Path, **variables: str) -> Done:
    return run_process(["new", *arguments], cwd=cwd, env=clean_environment(**variables))


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_it_says_what_it_made_and_what_to_do_next(tmp_path: Path) -> None:
    result = new_process("my-tool", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "Created pressroom-my-tool. Next:",
        "  cd pressroom-my-tool",
        "  python -m pip install -e '.[test]'",
        "  python -m pytest",
        "  pressroom serve",
        "To use it elsewhere, add [plugins.my_tool] to the configuration there.",
    ]
    assert (tmp_path / "pressroom-my-tool/.github/workflows/ci.yml").is_file()
    assert (tmp_path / "pressroom-my-tool/src/pressroom_my_tool/py.typed").is_file()


def test_a_release_of_it_is_published_without_a_stored_secret(tmp_path: Path) -> None:
    text = (render_template("my-tool", tmp_path) / ".github/workflows/publish.yml").read_text()
    workflow = yaml.safe_load(text)
    assert "python -m build" in [step.get("run") for step in workflow["jobs"]["build"]["steps"]]
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


def test_programs_get_the_folder_and_the_id(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    result = new("my-tool", "--into", "a folder", "--json", cwd=tmp_path)
    assert json.loads(result.stdout) == {"folder": "a folder/pressroom-my-tool", "plugin": "my_tool"}


def test_the_command_to_go_there_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    command = new("my-tool", "--into", "a folder", cwd=tmp_path).stdout.splitlines()[1]
    result = subprocess.run(["sh", "-c", f"{command} && pwd"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(tmp_path / "a folder/pressroom-my-tool")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_which_plugin_interface_and_which_host_it_is_for(tmp_path: Path, kind: str) -> None:
    folder = render_template("my-tool", tmp_path, kind)
    assert 'api="1"' in (folder / "src/pressroom_my_tool/plugin.py").read_text()
    assert "pressroom>=0.1,<0.2" in tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"]


@pytest.mark.parametrize("name", ["qr", MAX_LENGTH_NAME, "v2", "a-1-b", "class", *STANDARD_LIBRARY])
def test_the_names_of_everything_follow_from_the_name(tmp_path: Path, name: str) -> None:
    folder = render_template(name, tmp_path)
    id_ = name.replace("-", "_")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert folder == tmp_path / f"pressroom-{name}"
    assert project["name"] == f"pressroom-{name}"
    assert project["entry-points"]["pressroom.plugins"] == {id_: f"pressroom_{id_}.plugin"}
    assert PLUGIN_ID.fullmatch(id_)
    assert tomllib.loads((folder / "pressroom.toml").read_text())["plugins"] == {id_: {}}
    plugin = (folder / f"src/pressroom_{id_}/plugin.py").read_text()
    assert f'id="{id_}"' in plugin
    assert f'slug="{name}"' in plugin
    assert set(re.findall(r'name="(\w+_\w+)"', plugin)) == {f"{id_}_draw", f"{id_}_measure"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["qr", MAX_LENGTH_NAME])
def test_the_code_is_formatted_and_clean_however_long_the_name_is(tmp_path: Path, name: str, kind: str) -> None:
    folder = render_template(name, tmp_path, kind)
    for arguments in (["format", "--check"], ["check"]):
        run([sys.executable, "-m", "ruff", *arguments, "--no-cache", "."], folder)


@pytest.mark.parametrize("name", STANDARD_LIBRARY)
def test_a_module_of_the_standard_library_is_not_shadowed(tmp_path: Path, name: str) -> None:
    folder = render_template(name, tmp_path)
    code = f"import pressroom_{name}.plugin, {name}; print({name}.__file__)"
    imported = run([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(folder / "src")).stdout
    assert not imported.startswith(str(tmp_path))


def test_the_command_offers_every_kind(tmp_path: Path) -> None:
    assert f"[{'|'.join(KINDS)}]" in new("--help", cwd=tmp_path).stdout
    refused = new("my-tool", "--kind", "gadget", cwd=tmp_path)
    assert (refused.returncode, "'gadget' is not one of" in refused.stderr) == (2, True)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_the_template_is_left_to_fill_in(tmp_path: Path, kind: str) -> None:
    contents = files(render_template("my-tool", tmp_path, kind))
    unfilled = [name for name, text in contents.items() if "cookiecutter" in name + text or "{%" in text]
    assert unfilled == []
    assert {name for name, text in contents.items() if "{{" in text} == {".github/workflows/ci.yml"}


def test_the_licence_is_that_of_the_host(tmp_path: Path) -> None:
    folder = render_template("my-tool", tmp_path)
    assert (folder / "LICENSE").read_bytes() == (REPOSITORY / "LICENSE").read_bytes()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("My-Tool", "lower-case words joined by hyphens"),
        ("my_tool", "lower-case words joined by hyphens"),
        ("my_tool", "did you mean my-tool?"),
        ("MyTool", "did you mean my-tool?"),
        ("my--tool", "lower-case words joined by hyphens"),
        ("-tool", "No such option"),
        ("tool-", "lower-case words joined by hyphens"),
        ("2d", "lower-case words joined by hyphens"),
        ("x", "2 to 30 characters"),
        ("a" * 31, "2 to 30 characters"),
        ("", "lower-case words joined by hyphens"),
        ("../escape", "lower-case words joined by hyphens"),
        ("tool\n", "lower-case words joined by hyphens"),
        ("größe", "lower-case words joined by hyphens"),
        ("{{1}}", "lower-case words joined by hyphens"),
        ("pressroom", "leave that out"),
        ("pressroom-tool", "leave that out"),
        ("api", "/tools/api is the URL of the catalog"),
        ("suite", "pressroom-suite is the package that installs everything"),
        *(
            (name.removeprefix("pressroom-"), "is the name of a built-in plugin")
            for name in sorted(BUILTIN_DISTRIBUTIONS)
        ),
    ],
)
def test_a_name_that_cannot_work_is_wrong_usage(tmp_path: Path, name: str, says: str) -> None:
    result = new(name, cwd=tmp_path)
    assert result.returncode == 2
    assert says in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["empty folder", "full folder", "file", "dangling link"])
def test_what_exists_is_left_as_it_is(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "pressroom-my-tool"
    if kind == "file":
        target.write_text("mine")
    elif kind == "dangling link":
        target.symlink_to("nowhere")
    else:
        target.mkdir()
    if kind == "full folder":
        (target / "mine").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    result = new("my-tool", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "Error: pressroom-my-tool exists already\nchoose another name, or remove it\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    result = new("my-tool", "--into", "nowhere", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("Error: cannot make nowhere/pressroom-my-tool: No such file or directory")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path) -> None:
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    code = limited + "from pressroom.cli import main; sys.exit(main(['new', 'my-tool']))"
    # Bytecode truncated by the limit would break every later process.
    result = run([sys.executable, "-c", code], tmp_path, check=False, PYTHONDONTWRITEBYTECODE="1")
    assert result.returncode == 1
    assert "cannot make pressroom-my-tool: File too large" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_neither_the_configuration_of_a_user_nor_the_home_folder_matters(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".cookiecutterrc").write_text("default_context:\n  author: Somebody\n  name: other\n")
    (tmp_path / "work").mkdir()
    # In a separate process: the template engine reads the home folder when it is imported.
    settings = {"HOME": str(home), "COOKIECUTTER_CONFIG": str(home / ".cookiecutterrc")}
    result = new_process("my-tool", cwd=tmp_path / "work", **settings)
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "work/pressroom-my-tool"
    assert "Somebody" not in (folder / "pyproject.toml").read_text()
    assert [path.name for path in home.iterdir()] == [".cookiecutterrc"]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["pressroom-my-tool"]


def test_two_at_once_make_one_whole_project(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pressroom", "new", "my-tool", "--into", str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    results = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert sorted(code for _, code in results) == [0, 1, 1]
    (tmp_path / "other").mkdir()
    assert files(tmp_path / "pressroom-my-tool") == files(render_template("my-tool", tmp_path / "other"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "pressroom-my-tool"]


def test_what_pip_compiled_of_the_template_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "installed"
    shutil.copytree(scaffolding._template_folder(), template)
    for module in list(template.rglob("plugin.py")):
        (module.parent / "__pycache__").mkdir(exist_ok=True)
        (module.parent / "__pycache__/plugin.cpython-311.pyc").write_bytes(b"{{ cookiecutter.summary }}")
    monkeypatch.setattr(scaffolding, "_template_folder", lambda: template)
    folder = scaffolding.render_template("my-tool", tmp_path)
    assert list(folder.rglob("plugin.py"))
    assert not list(folder.rglob("__pycache__"))
