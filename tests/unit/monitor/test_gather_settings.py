"""The settings of a live gathered stream: what they say, and what is refused with its line."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub.errors import InvalidInput
from hubbub.monitor.gather_settings import GatherSettings
from hubbub.monitor.toml import read_toml

BARE = """
[stream]
name = "colours"
[gather]
plan = "q/plan.json"
keys = "q/leader.keys"
rounds = "leader"
helper = "https://helper.example"
"""
PRIVACY = '[privacy]\nprotect = "user"\nhorizon = 100\nepsilon = 5\n'


def read(tmp_path, text):
    path = tmp_path / "live.toml"
    path.write_text(text)
    return read_toml(path, GatherSettings)


def test_a_stream_of_its_own(tmp_path):
    settings = read(tmp_path, BARE)
    assert settings.asked_of() is None
    assert settings.share == "1"
    assert (settings.gather.port, settings.publish) == (8083, None)
    assert read(tmp_path, BARE + PRIVACY).asked_of().name == "colours"


def test_a_part_of_a_grant(tmp_path):
    settings = read(tmp_path, BARE + PRIVACY + '[grant]\nname = "panel"\npopulation = "the panel"\nshare = "1/5"\n')
    grant = settings.asked_of()
    assert (grant.name, grant.population, grant.guarantee.epsilon) == ("panel", "the panel", 5)
    assert Fraction(settings.share) == Fraction(1, 5)


def test_the_sample_in_the_guide(tmp_path):
    guide = (Path(__file__).parents[3] / "docs" / "gather.md").read_text()
    (sample,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    settings = read(tmp_path, sample)
    part = settings.asked_of().part(settings.share, max_ticks=8)
    assert part.guarantee.epsilon / part.guarantee.unit.max_ticks == Fraction(1, 8)
    assert settings.publish.public


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[grant]\nname = "panel"\n', "needs the table"),
        (PRIVACY.replace('"user"', '"event"').replace("horizon = 100\n", ""), 'protect = "user"'),
        (PRIVACY + '[grant]\nname = "panel"\napart_from = ["others"]\n', "apart_from"),
        ("[gathers]\n", "there is no setting"),
    ],
)
def test_what_is_refused(tmp_path, more, words):
    with pytest.raises(InvalidInput, match=words):
        read(tmp_path, BARE + more)
