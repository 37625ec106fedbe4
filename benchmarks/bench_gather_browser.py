"""The browser's client in a real Chromium, beside the Python client and beside Keccak in words of 64 bits, in one run.

python -m benchmarks gather_browser
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import hubbub.gather.client as module
from benchmarks.bench_gather import CONTEXT, seconds
from hubbub.gather.prio3 import Prio3Histogram

FOLDER = Path(module.__file__).parent
LIMIT = "time on the wall, the best of many: a page cannot read the processor's clock"

SHARD = """
async ({ length, chunk, times }) => {
  const { Prio3 } = await import("/prio3.mjs");
  const prio3 = new Prio3("histogram", { length, chunk_length: chunk });
  const found = [];
  for (let i = 0; i < times; i++) {
    const coins = [crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(128))];
    const begin = performance.now();
    prio3.shard(new Uint8Array(32), 1, ...coins);
    found.push(performance.now() - begin);
  }
  return found;
}
"""

STRETCH = """
async (times) => {
  const { Xof } = await import("/prio3.mjs");
  const [turns, places] = [
    [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44].map(BigInt),
    [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1],
  ];
  const lanes = new BigUint64Array(25), columns = new BigUint64Array(5), mask = 2n ** 64n - 1n;
  const turned = (lane, by) => ((lane << by) & mask) | (lane >> (64n - by));
  const permute = () => {  // constants left out: they cost nothing
    for (let round = 0; round < 12; round++) {
      for (let x = 0; x < 5; x++)
        columns[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20];
      for (let x = 0; x < 5; x++) {
        const mixed = columns[(x + 4) % 5] ^ turned(columns[(x + 1) % 5], 1n);
        for (let y = 0; y < 25; y += 5) lanes[x + y] ^= mixed;
      }
      let moved = lanes[1];
      for (let i = 0; i < 24; i++) {
        const next = lanes[places[i]];
        lanes[places[i]] = turned(moved, turns[i]);
        moved = next;
      }
      for (let y = 0; y < 25; y += 5) {
        for (let x = 0; x < 5; x++) columns[x] = lanes[y + x];
        for (let x = 0; x < 5; x++) lanes[y + x] ^= ~columns[(x + 1) % 5] & columns[(x + 2) % 5];
      }
    }
  };
  const size = 65536;
  const best = (act) => Math.min(...Array.from({ length: times }, () => {
    const begin = performance.now();
    act();
    return performance.now() - begin;
  }));
  const ours = best(() => new Xof(new Uint8Array(32), new Uint8Array(40)).next(size));
  const wide = best(() => { for (let done = 0; done < size; done += 168) permute(); });
  return [ours, wide];
}
"""


def main() -> list[dict[str, Any]]:
    path = os.environ.get("HUBBUB_CHROMIUM") or shutil.which("chromium")
    rows = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for length in (64, 4096, 2**18):
            rows += histogram(page_of(browser), length)
        ours, wide = page_of(browser).evaluate(STRETCH, 20)
        rows.append({"what": "browser: stretching a seed to 64 KiB", "value": ours, "unit": "ms", "limit": LIMIT,
                     "peer": f"BigUint64Array: {wide:.0f} ms", "ratio": wide / ours})  # fmt: skip
        browser.close()
    return rows


def histogram(page: Any, length: int) -> list[dict[str, Any]]:
    prio3 = Prio3Histogram(length=length)
    coins = os.urandom(16), os.urandom(prio3.randomness_size)
    python, _ = seconds(lambda: prio3.shard(CONTEXT, 1, *coins), 5)
    times = 30 if length <= 4096 else 2
    given = {"length": length, "chunk": prio3.circuit.chunk_length, "times": times}
    taken = page.evaluate(SHARD, given)
    what = f"browser: shares and proof, {length:,} buckets"
    goal = "well under 1,000 ms" if length == 4096 else None
    rest = {"unit": "ms", "goal": goal, "limit": LIMIT}
    return [
        {"what": f"{what}, first in a fresh page", "value": taken[0], **rest},
        {"what": what, "value": min(taken), "peer": f"Python client: {python * 1000:.1f} ms",
         "ratio": python * 1000 / min(taken), **rest},
    ]  # fmt: skip


def page_of(browser: Any) -> Any:
    """A fresh page that can read the modules."""
    page = browser.new_context().new_page()

    def answer(route: Any) -> None:
        name = route.request.url.rpartition("/")[2]
        if name.endswith(".mjs"):
            route.fulfill(body=(FOLDER / name).read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>x</title>", content_type="text/html")

    page.route("**/*", answer)
    page.goto("http://localhost/")
    return page


if __name__ == "__main__":
    print(main())
