"""`import hubbub as hb`: every name is there, and nothing is loaded before it is asked for."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hubbub as hb
from hubbub import errors
from hubbub.cli import main as cli
from hubbub.extras import EXTRAS


def loaded_by(code):
    """The modules that a fresh interpreter has loaded after running `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", [name for name in hb.__all__ if name not in ("__version__", "errors")])
def test_a_name_is_what_its_room_calls_by_that_name(name):
    assert getattr(hb, name) is getattr(importlib.import_module(hb._PLACES[name]), name)


def test_editors_and_type_checkers_see_the_same_names():
    tree = ast.parse(inspect.getsource(hb))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (alias.name, node.module) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    seen.discard(("*", "hubbub.errors"))
    assert seen | {(name, "hubbub.errors") for name in errors.__all__} == set(hb._PLACES.items())


def test_every_error_of_the_tree_is_there():
    tree = {name for name, found in vars(errors).items() if inspect.isclass(found)}
    assert tree == set(errors.__all__)
    assert tree <= set(dir(hb))


def test_importing_loads_no_library():
    heavy = {"numpy", "scipy", "polars", "pandas", "sqlalchemy", "fastapi", "pydantic", "typer", "cryptography"}
    assert not heavy & loaded_by("import hubbub")


def test_the_version_is_told_without_loading_the_rooms():
    loaded = loaded_by("from hubbub.cli.main import main\nmain(['--version'])")
    assert not {"numpy", "scipy", "polars", "hubbub.cli.commands.release"} & loaded


def test_one_command_does_not_load_the_others():
    loaded = loaded_by("from hubbub.cli.main import main\nmain(['token', '--help'])")
    assert "hubbub.cli.commands.token" in loaded
    assert not {"hubbub.cli.commands.lab", "hubbub.lab"} & loaded


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Sesion'"):
        hb.Sesion  # noqa: B018


WITHOUT_EXTRAS = """
import sys
from hubbub.extras import EXTRAS

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
"""As on a machine with `pip install hubbub` and nothing more."""


def run_without_extras(code):
    return subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS + code], capture_output=True, text=True)


def test_a_program_with_counts_of_its_own_needs_no_extra():
    done = run_without_extras("""
import hubbub as hb
monitor = hb.Monitor(keys=["front", "news"], unit=hb.Session(max_ticks=20), epsilon=1.0)
print(monitor.release({"front": 812, "news": 240}))
""")
    assert done.returncode == 0, done.stderr
    assert "front" in done.stdout


def test_what_needs_an_extra_names_it():
    done = run_without_extras("""
import hubbub as hb
try:
    hb.Store
except hb.MissingExtra as error:
    print(error.hint)
""")
    assert done.stdout.strip() == "pip install 'hubbub[collect]'"


def test_the_command_without_its_extra_says_what_to_install():
    done = run_without_extras("import runpy\nsys.argv = ['hubbub']\nrunpy.run_module('hubbub', run_name='__main__')")
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'hubbub[collect]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_needs_more_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "hubbub.cli.commands.token", None)
    with pytest.raises(ModuleNotFoundError):  # ours, not an extra's: a fault to be seen whole
        cli.main(["token"])

    def build(_):
        raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")

    monkeypatch.setattr(cli, "build", build)
    assert cli.main(["serve", "site.db"]) == 1
    assert "hubbub[server]" in capsys.readouterr().err


def test_every_package_of_an_extra_is_known():
    wanted = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    imported = {
        "confluent-kafka": "confluent_kafka",
        "dp-accounting": "dp_accounting",
        "gtfs-realtime-bindings": "google",
        "nats-py": "nats",
        "pycryptodome": "Crypto",
    }
    listed = {
        imported.get(name, name): extra
        for extra in (
            "accounting",
            "collect",
            "gather",
            "gather-client",
            "kafka",
            "nats",
            "postgres",
            "server",
            "spatial",
        )
        for name in (re.split(r"[\[>]", package)[0] for package in wanted[extra])
        if name not in ("hubbub", "cryptography")  # the base has it; clients need a newer one
    }
    assert listed == {name: extra for name, extra in EXTRAS.items() if name != "starlette"}  # FastAPI brings it
