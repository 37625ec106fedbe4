"""The JavaScript reader of compiled policies, in a real browser: the test vectors, and files that are not whole."""

import json
from pathlib import Path

import pytest

import hubbub.contexts.device as device

VECTORS = Path(__file__).parents[2] / "docs" / "samples" / "context_policies.json"
ODD = VECTORS.with_name("context_policies_odd.json")
MODULE = Path(device.__file__).with_name("device.mjs")

SCRIPT = """
async (vectors) => {
  const { Mask } = await import("/device.mjs");
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  const answers = [];
  for (const vector of vectors) {
    for (const data of [bytes(vector.binary), new TextEncoder().encode(vector.json)]) {
      const mask = await Mask.read(data, () => vector.coin);
      answers.push(vector.day.map((context, tick) => mask.offer(tick, context)));
      const own = await Mask.read(data);
      own.offer(0, vector.day[0]);
      const cut = await Mask.read(data.subarray(0, data.length - 1));
      if (cut.readable || cut.offer(0, vector.day[0]) !== null) throw new Error("a file that was cut short was read");
      data[30] ^= 1;
      const broken = await Mask.read(data);
      if (broken.readable || broken.offer(0, vector.day[0]) !== null) throw new Error("a changed file was read");
    }
  }
  return answers;
}
"""

ODD_SCRIPT = """
async (files) => {
  const { Mask } = await import("/device.mjs");
  const read = [];
  for (const one of files) {
    const mask = await Mask.read(new TextEncoder().encode(one.file), (parts) => parts);
    const shown = one.day.map((context, tick) => mask.offer(tick, context));
    if (mask.readable || shown.some((context) => context !== null)) read.push(one.about);
  }
  return read;
}
"""
COIN_SCRIPT = """
async (vector) => {
  const { Mask } = await import("/device.mjs");
  const mask = await Mask.read(new TextEncoder().encode(vector.json), () => { throw new Error("no randomness"); });
  return [mask.readable, mask.offer(0, vector.day[0]), mask.tick];
}
"""


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    page.route(
        "http://localhost/**",
        lambda route: (
            route.fulfill(body=MODULE.read_text(), content_type="text/javascript")
            if route.request.url.endswith(".mjs")
            else route.fulfill(body="<!doctype html>", content_type="text/html")
        ),
    )
    page.goto("http://localhost/")
    yield page
    page.close()


def test_a_browser_decides_the_same(page):
    vectors = json.loads(VECTORS.read_text())
    answers = page.evaluate(SCRIPT, vectors)
    assert answers == [vector["shown"] for vector in vectors for _ in range(2)]


def test_a_browser_refuses_the_odd_files_that_python_refuses(page):
    assert page.evaluate(ODD_SCRIPT, json.loads(ODD.read_text())) == []


def test_a_coin_that_fails_shows_nothing(page):
    assert page.evaluate(COIN_SCRIPT, json.loads(VECTORS.read_text())[0]) == [True, None, 0]
