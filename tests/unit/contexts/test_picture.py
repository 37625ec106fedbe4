"""Pictures of a day: SVG that a browser can read, whatever contexts are called."""

from xml.etree import ElementTree

import pytest

from hubbub.contexts import SUPPRESSED, Adversary, ContextChain, MaskSensitive, Secret
from hubbub.errors import InvalidInput

SPACE = "{http://www.w3.org/2000/svg}"
CHAIN = ContextChain(("<work> & {co}", "clinic"), (1, 0), [[("1/2", "1/2"), (0, 0)], [(1, 0), (1, 0)]])


def read(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SPACE}svg"
    return root


def words(root):
    return [node.text for node in root.iter() if node.tag in (f"{SPACE}text", f"{SPACE}title")]


def test_a_chain_is_drawn_with_all_its_contexts(tmp_path):
    CHAIN.plot(tmp_path / "day.svg")
    root = read(tmp_path / "day.svg")
    assert {"<work> & {co}", "clinic"} <= set(words(root))
    shapes = [node.get("points") for node in root.iter(f"{SPACE}polygon")]
    assert len(shapes) == 2
    heights = {point.split(",")[1] for point in shapes[1].split()}
    assert len(heights) == 2, "the clinic is there at the second tick only, half of the days"


def test_many_contexts_have_patterns_besides_colours(tmp_path):
    names = [f"place {k}" for k in range(20)]
    ContextChain(names, [f"{1}/20"] * 20, []).plot(tmp_path / "day.svg")
    fills = [node.get("fill") for node in read(tmp_path / "day.svg").iter(f"{SPACE}polygon")]
    assert fills.count("url(#turn1)") == 9
    assert fills.count("url(#turn2)") == 2


def test_what_was_shown_and_what_is_believed(tmp_path):
    secrets = [Secret("clinic"), Secret("clinic", first=1, last=2, sometime=True, delta="0.6")]
    adversary = Adversary(MaskSensitive.plan(CHAIN, secrets, "1/4"))
    work = "<work> & {co}"
    adversary.plot(tmp_path / "day.svg", [work, SUPPRESSED, work], [work, "clinic", work])
    root = read(tmp_path / "day.svg")
    assert words(root).count("ticks 1 to 1: suppressed") == 1
    assert words(root).count("ticks 1 to 1: clinic") == 1
    assert words(root).count("a breach") == 1, "the second secret has a delta that allows it"
    assert len([node for node in root.iter(f"{SPACE}polyline") if node.get("class") == "after"]) == 2
    adversary.plot(tmp_path / "short.svg", [work])
    assert "the day" not in words(read(tmp_path / "short.svg")), "nobody needs to know it"


def test_only_as_svg(tmp_path):
    with pytest.raises(InvalidInput, match=r"does not end in \.svg"):
        CHAIN.plot(tmp_path / "day.png")
    assert not (tmp_path / "day.png").exists()
