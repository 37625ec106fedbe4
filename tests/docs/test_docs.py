"""Documents that cannot drift: links lead somewhere, commands exist, the first lines run, the reference is true."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer.main

from hubbub.cli.commands_page import commands_page
from hubbub.cli.main import build
from hubbub.methods.methods_page import methods_page

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{name(page)} links to {target}, which is not there"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_shown_exist_with_their_options(page):
    root = typer.main.get_command(build())
    for line in re.findall(r"^(?: {4}|\$ )(hubbub [^#\n]*)", page.read_text(), re.MULTILINE):
        words = shlex.split(line.replace("…", ""), comments=True)[1:]
        command = root
        while words and hasattr(command, "commands"):
            if words[0].startswith("-"):
                break
            assert words[0] in command.commands, f"{name(page)} shows `{line}`; there is no such command"
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for word in words:
            if word.startswith("--"):
                assert word.split("=")[0] in {*known, "--help"}, f"{name(page)} shows `{line}`; {word} is no option"


def test_the_command_reference_is_the_programs_own():
    written = (ROOT / "docs" / "commands.md").read_text()
    assert written == commands_page(), "run: python -m hubbub.cli.commands_page > docs/commands.md"


def test_the_page_of_methods_is_made_from_what_they_declare():
    written = (ROOT / "docs" / "methods.md").read_text()
    assert written == methods_page(), "run: python -m hubbub.methods.methods_page > docs/methods.md"


def test_every_option_says_what_it_is():
    def walk(command, path):
        for sub, child in getattr(command, "commands", {}).items():
            yield from walk(child, f"{path} {sub}")
        for parameter in command.params:
            yield path, parameter

    for path, parameter in walk(typer.main.get_command(build()), "hubbub"):
        assert parameter.name == "help" or getattr(parameter, "help", None), f"{path}: {parameter.name} has no help"


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_first_lines_run(page, tmp_path, monkeypatch):
    shutil.copy(ROOT / "docs" / "samples" / "cases.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", (ROOT / page).read_text(), re.MULTILINE)
    code = [re.sub("^ {4}", "", block, flags=re.MULTILINE) for block in blocks if "import hubbub" in block]
    assert code, f"{page} shows no Python"
    for block in code:
        exec(compile(block, page, "exec"), {"print": lambda *_: None})


def test_every_proof_that_code_names_exists():
    for path in sorted((ROOT / "src").rglob("*.py")):
        for proof in re.findall(r"docs/proofs/\w+\.md", path.read_text()):
            assert (ROOT / proof).exists(), f"{name(path)} names {proof}, which is not there"


def test_the_changelog_speaks_of_privacy():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    for version in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        assert "### Privacy" in version, f"{version.splitlines()[0]} says nothing under Privacy"
