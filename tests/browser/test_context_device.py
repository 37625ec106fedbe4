"""The JavaScript reader of compiled policies, in a real browser: the test vectors, and files that are not whole."""

import json
from pathlib import Path

import hubbub.contexts.device as device

VECTORS = Path(__file__).parents[2] / "docs" / "samples" / "context_policies.json"
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


def test_a_browser_decides_the_same(chromium):
    vectors = json.loads(VECTORS.read_text())
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
    answers = page.evaluate(SCRIPT, vectors)
    page.close()
    assert answers == [vector["shown"] for vector in vectors for _ in range(2)]
