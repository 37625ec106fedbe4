"""The Ranges page as a person meets it: drag, keyboard, phone, dark, no script, nothing yet, no answer."""

import json
import re
import urllib.request
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.patience import PATIENCE, until_on
from tests.support.site import Site

from hubbub.server import ServerSettings, Serving, create_app

TICKS = 120


class Stage:
    def __init__(self, folder, ticks=TICKS, ranges=100):
        self.site = Site(
            folder, length=timedelta(minutes=1), start=datetime.now(UTC) - timedelta(minutes=ticks), ranges=ranges
        ).run(ticks)
        settings = ServerSettings(title="Daily Example", noun="sections", public=True, port=0, poll_seconds=30)
        self.app = create_app(self.site.store, settings=settings)
        self.serving = Serving(self.app).start()
        self.address = self.serving.address

    def tick(self):
        self.site.tick()
        self.app.state.desk.feed.wake()

    def range(self, query):
        with urllib.request.urlopen(f"{self.address}/v1/streams/site/range?{query}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def close(self):
        self.serving.stop()
        self.site.close()


@pytest.fixture(scope="module")
def ranged(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("ranged"))
    yield made
    made.close()


def ready(page):
    page.wait_for_selector("#pill.live, #pill.stale")
    page.wait_for_selector("#handles", state="visible")


def shown_range(page):
    found = re.search(r"from=(\d+)&to=(\d+)", page.url)
    return int(found[1]), int(found[2])


def drag(page, start, end):
    box = page.locator("#frame").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y, steps=3)
    page.mouse.move(box["x"] + end * box["width"], y, steps=3)
    page.mouse.up()
    until_on(page, "location.search.includes('from=')")


def test_dragging_gives_the_routes_own_answer(page, ranged):
    page.goto(f"{ranged.address}/ranges")
    ready(page)
    drag(page, 0.25, 0.75)
    first, last = shown_range(page)
    got = ranged.range(f"from={first}&to={last}&each=true")
    until_on(page, f"document.getElementById('sum').innerText === {got['sum']['text']!r}")
    assert 40 <= last - first <= 60, "half of a hundred ticks"
    assert page.locator("#when").inner_text() == got["words"]
    assert page.locator("#interval").inner_text() == got["error_words"]
    news = next(row for row in got["each"] if row["key"] == "news")
    assert page.locator('#rows tr[data-key="news"] .number').inner_text() == news["text"]
    assert f"from={first}&to={last}" in page.locator("#csv").get_attribute("href")
    x, width = (float(page.locator("#picked").get_attribute(name)) for name in ("x", "width"))
    assert (x, width) == (pytest.approx(150, abs=10), pytest.approx(300, abs=15))
    address = page.url
    page.goto(f"{ranged.address}/")
    page.goto(address)
    ready(page)
    assert page.locator("#sum").inner_text() == got["sum"]["text"], "the address restores the view"


def test_dragging_backwards_is_the_same_range(page, ranged):
    page.goto(f"{ranged.address}/ranges?key=news")
    ready(page)
    drag(page, 0.9, 0.4)
    first, last = shown_range(page)
    assert first < last
    expected = ranged.range(f"from={first}&to={last}&key=news")["sum"]["text"]
    until_on(page, f"document.getElementById('sum').innerText === {expected!r}")
    assert "key=news" in page.url


def test_the_handles_obey_arrow_keys(page, ranged):
    page.goto(f"{ranged.address}/ranges?from=40&to=80")
    ready(page)
    page.locator("#from-handle").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until_on(page, "location.search.includes('from=43')")
    page.locator("#to-handle").focus()
    page.keyboard.press("ArrowLeft")
    until_on(page, "location.search.includes('to=79')")
    assert page.locator("#sum").inner_text() == ranged.range("from=43&to=79")["sum"]["text"]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", page.locator("#to-handle").get_attribute("aria-valuetext"))
    page.keyboard.press("Home")  # beyond the other handle: it is taken along
    until_on(page, "new URL(location).searchParams.get('from') === new URL(location).searchParams.get('to')")


def test_the_form_takes_times_and_says_what_is_wrong(page, ranged):
    page.goto(f"{ranged.address}/ranges?from=40&to=80")
    ready(page)
    before = page.locator("#sum").inner_text()
    page.expected.append("422")
    page.locator("#from").fill("tomorrow")
    page.locator("#range button").click()
    page.locator("#wrong").wait_for()
    assert "neither a tick nor a time" in page.locator("#wrong").inner_text()
    assert page.locator("#sum").inner_text() == before, "the last total stays"
    page.locator("#from").fill(ranged.site.at(50).start.isoformat())
    page.locator("#range button").click()
    until_on(page, "location.search.includes('from=50')")
    assert page.locator("#wrong").is_hidden()


def test_choosing_a_key_keeps_the_range(page, ranged):
    page.goto(f"{ranged.address}/ranges?from=40&to=80")
    ready(page)
    page.locator("#key").select_option("sports")
    page.wait_for_url("**key=sports**")
    ready(page)
    assert page.locator("#sum").inner_text() == ranged.range("from=40&to=80&key=sports")["sum"]["text"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1180])
def test_nothing_runs_over_the_edge_and_all_can_be_read(chromium, ranged, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{ranged.address}/ranges?from=40&to=80")
    ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for selector in ("#sum .number", "#when", "#interval", "#edge-first", ".handles + .edges span", "#inside p"):
        assert contrast(page, selector) >= 4.5, selector
    context.close()


def contrast(page, selector):
    """The WCAG ratio of a text to the page behind it."""
    colours = page.locator(selector).first.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(document.documentElement).backgroundColor]"
    )

    def light(text):
        parts = [int(n) / 255 for n in re.findall(r"\d+", text)[:3]]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(light(colour) for colour in colours)
    return (high + 0.05) / (low + 0.05)


def test_without_a_script_the_form_answers(chromium, ranged):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{ranged.address}/ranges")
    page.locator("#from").fill("40")
    page.locator("#to").fill("80")
    page.locator("#range button").click()
    page.wait_for_url("**from=40**")
    assert page.locator("#sum").inner_text() == ranged.range("from=40&to=80")["sum"]["text"]
    assert page.locator("#handles").is_hidden()
    assert "Without JavaScript" in page.locator("noscript").inner_text()
    context.close()


def test_an_empty_stream_explains_itself_and_comes_alive(page, tmp_path):
    stage = Stage(tmp_path, ticks=0)
    try:
        page.goto(f"{stage.address}/ranges")
        assert "Nothing has been released yet" in page.locator("#empty").inner_text()
        page.wait_for_timeout(300)
        stage.tick()
        page.locator("#sum").wait_for()
    finally:
        stage.close()


def test_new_ticks_move_the_curve_and_leave_the_range(page, tmp_path):
    stage = Stage(tmp_path, ticks=50)
    try:
        page.goto(f"{stage.address}/ranges?from=10&to=30")
        ready(page)
        before, edge = page.locator("#sum").inner_text(), page.locator("#edge-last").inner_text()
        page.wait_for_timeout(5200)
        stage.tick()
        until_on(page, f"document.getElementById('edge-last').innerText !== {edge!r}")
        assert page.locator("#sum").inner_text() == before
        assert page.locator("#to-handle").get_attribute("max") == "50"
    finally:
        stage.close()


def test_a_lost_server_is_told_and_the_last_total_stays(page, tmp_path):
    stage = Stage(tmp_path, ticks=30)
    page.expected += ["ERR_", "Failed to load", "Failed to fetch"]
    page.goto(f"{stage.address}/ranges?from=10&to=20")
    ready(page)
    before = page.locator("#sum").inner_text()
    stage.close()
    page.locator("#from-handle").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#wrong").wait_for()
    assert "did not answer" in page.locator("#wrong").inner_text()
    assert page.locator("#sum").inner_text() == before
    page.locator("#pill.lost").wait_for()


def test_a_wrong_address_can_be_put_right_on_the_page(page, ranged):
    page.goto(f"{ranged.address}/ranges?from=80&to=40")
    ready(page)
    assert "must not lie after" in page.locator("#wrong").inner_text()
    assert page.locator("#each").is_hidden()
    page.locator("#from").fill("30")
    page.locator("#to").fill("70")
    page.locator("#range button").click()
    until_on(page, "location.search.includes('from=30')")
    assert page.locator("#sum").inner_text() == ranged.range("from=30&to=70")["sum"]["text"]
    assert page.locator("#rows tr").count() == 17
    page.locator('#rows tr[data-key="sports"] a').click()
    page.wait_for_url("**key=sports**")
    assert page.locator("#sum").inner_text() == ranged.range("from=30&to=70&key=sports")["sum"]["text"]
