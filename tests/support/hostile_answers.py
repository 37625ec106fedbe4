"""Answers that a server may send to see for which contexts a client fails."""

import json
from random import Random

from hubbub.personal.client import VERSION


def fitting(hierarchy, node="0,0 x4"):
    return {
        "version": VERSION, "hierarchy": hierarchy.digest, "node": node, "results": ["bakery", "pharmacy"],
        "lengths": [12, 4], "best": "01", "value": 0.3, "bound": 0.4, "left_out": 0.0,
    }  # fmt: skip


CHANGES = [
    {"best": "0!"},
    {"best": "0Z"},
    {"best": "0\uff11"},
    {"best": "02"},
    {"best": "-0", "results": None},
    {"best": ["0", "1"]},
    {"best": ["0", ""]},
    {"best": {"length": 2, "0": "0", "1": "1"}},
    {"best": "0"},
    {"best": 1},
    {"best": "0\ud800"},
    {"results": ["a", None]},
    {"results": ["a", {"x": 1}]},
    {"results": ["a", {"toString": 1}]},
    {"results": ["a", "a"]},
    {"results": ["a", ""]},
    {"results": ["a", "b", "c"]},
    {"results": "ab"},
    {"results": ["a"]},
    {"results": {"0": "a", "1": "b", "length": 2}},
    {"results": ["a", "\ud800"]},
    {"results": ["\ud83d", "\ude00"]},
    {"results": ["a", ["b"]]},
    {"results": ["a", 7]},
    {"results": [], "best": "-0"},
    {"lengths": [12, 5]},
    {"lengths": [12, 3]},
    {"lengths": [12, True]},
    {"lengths": [12, "4"]},
    {"lengths": [12, 4.5]},
    {"lengths": [17, -1]},
    {"lengths": [0, 16]},
    {"lengths": [16, 0]},
    {"lengths": {"length": 2, "0": 12, "1": 4}},
    {"lengths": [12, None]},
    {"lengths": [12, 2**53]},
    {"lengths": [12, 10**300]},
    {"lengths": None},
    {"lengths": [16]},
    {"node": "7,7"},
    {"node": None},
    {"hierarchy": None},
    {"hierarchy": "0" * 64},
    {"version": 1},
    {"version": "2"},
]
TEXTS = [
    "",
    "null",
    "[]",
    "7",
    '"0"',
    "[" * 5000,
    '{"node":',
    "\ufeff{}",
    "NaN",
    "<html>",
    '{"lengths":[12,NaN]}',
    '{"lengths":[12,Infinity]}',
    '{"lengths":[12,1e999]}',
]
GOOD = [
    {},
    {"lengths": [12.0, 4.0]},
    {"best": "--"},
    {"best": "11"},
    {"results": ["toString", "__proto__"]},
    {"results": [], "best": "-", "lengths": [16]},
    {"more": {"context": "3,2"}},
    {"results": ["\U0001f600", "\0"]},
]


def bad(hierarchy):
    whole = fitting(hierarchy)
    missing = [json.dumps({name: one for name, one in whole.items() if name != left_out}) for left_out in whole][:6]
    texts = [text.replace("{", json.dumps(whole)[:-1] + ",", 1) if text.startswith('{"l') else text for text in TEXTS]
    return [*(json.dumps(whole | change) for change in CHANGES), *missing, *texts]


def good(hierarchy):
    return [json.dumps(fitting(hierarchy) | change) for change in GOOD]


def garbled(hierarchy, count):
    """A sound answer with one byte that was changed, left out or doubled."""
    rng, whole = Random(15), json.dumps(fitting(hierarchy), separators=(",", ":"))
    found = []
    for _ in range(count):
        at = rng.randrange(len(whole))
        found.append(whole[:at] + rng.choice(["", whole[at] * 2, *'0127-"[]{},.eaZ']) + whole[at + 1 :])
    return found
