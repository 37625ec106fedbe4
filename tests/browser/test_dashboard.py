"""The dashboard as a person meets it."""

import re

import pytest
from tests.support.contrast import CONTRAST
from tests.support.patience import until_on
from tests.support.site import Site

from hubbub.confidential import Counts
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, Session
from hubbub.released import Keys, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store import Store

PAGES = ("/", "/top", "/ranges", "/guarantee", "/about", "/key?name=sports", "/login")


def text_of(page, selector):
    return page.locator(selector).inner_text()


def settled(page):
    page.wait_for_selector("#pill.live, #pill.stale")


def test_every_number_stands_with_its_interval(page, stage):
    page.goto(stage.address)
    settled(page)
    rows = page.locator("#rows tr")
    assert rows.count() == 17
    for number in page.locator("#rows .number, #total .number").all():
        assert re.fullmatch(r"[\d,.]+ ± [\d,.]+", number.inner_text())
        assert number.get_attribute("title").startswith("95 of 100 times between")
    assert "every 1 minute" in text_of(page, "#status")
    assert page.locator("#rows .curve .line").first.get_attribute("d").startswith("M")


def test_small_numbers_are_grey_and_in_words(page, stage):
    page.goto(stage.address)
    stage.tick([4000, *[0] * 16])
    # One of sixteen zeros: noise lifts each of them out of its interval once in forty times.
    row = page.locator("#rows tr:has(.number.within_noise)").first
    row.wait_for()
    assert row.locator(".words").inner_text() == "within the noise: may be zero"
    assert not row.locator(".share svg").is_visible(), "no share is not a share of zero"
    grey, ink = (
        which.locator(".number").evaluate("e => getComputedStyle(e).color")
        for which in (row, page.locator('#rows tr[data-key="front page"]'))
    )
    assert grey != ink


def test_a_tick_arrives_without_a_reload_and_touches_only_what_changed(page, stage):
    page.goto(stage.address)
    settled(page)
    page.evaluate("""() => {
        window.stayed = true;
        window.added = 0;
        const count = list => list.forEach(m => { window.added += m.target.id === 'rows' });
        new MutationObserver(count).observe(document.getElementById('rows'), { childList: true, subtree: true });
    }""")
    before = text_of(page, "#total")
    stage.tick([9000 + i for i in range(17)])
    until_on(page, f"document.querySelector('#total').innerText !== {before!r}")
    assert "updated now" in text_of(page, "#status") or "s ago" in text_of(page, "#status")
    assert page.evaluate("window.stayed") is True
    assert page.evaluate("window.added") == 0, "rows stay; only their contents change"


def test_a_surge_is_marked_with_its_reason(page, stage):
    page.goto(stage.address)
    settled(page)
    for _ in range(35):
        stage.tick([500] * 17)
    for _ in range(3):
        stage.tick([500, 500, 9000, *[500] * 14])
    # The tests before may have left a drop, which the page marks until it has heard of these ticks.
    mark = page.locator('#rows tr[data-key="sports"] .mark').filter(has_text=re.compile("^⚡ surge$"))
    mark.wait_for()
    assert mark.get_attribute("title").startswith("rose from")
    page.goto(f"{stage.address}/top")
    assert "rose from" in text_of(page, ".alerts")


def test_a_lost_connection_says_so_and_comes_back(page, own_stage):
    page.expected = ["ERR_", "Failed to load resource"]
    page.goto(own_stage.address)
    settled(page)
    port = int(own_stage.address.rpartition(":")[2])
    own_stage.serving.stop()
    page.locator("#lost").wait_for()
    assert "connection lost" in text_of(page, "#status")
    assert "dimmed" in page.locator("body").get_attribute("class")
    assert page.locator("#rows tr").count() == 17, "the last picture stays"
    app = create_app(own_stage.site.store, settings=ServerSettings(public=True, poll_seconds=0.1))
    own_stage.serving = Serving(app, port=port).start()
    own_stage.site.tick([7000] * 17)
    page.locator("#lost").wait_for(state="hidden")
    until_on(page, "document.querySelector('#total').innerText.startsWith('11')")


def test_an_empty_stream_explains_itself_and_fills(page, tmp_path):
    site = Site(tmp_path)
    app = create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.1))
    with Serving(app) as serving:
        page.goto(serving.address)
        assert "Nothing has been released yet" in text_of(page, "#empty")
        site.tick()
        page.locator("#rows tr").first.wait_for()
    site.close()


def test_stale_numbers_look_stale(page, tmp_path):
    site = Site(tmp_path).run(3)
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0))) as serving:
        page.goto(serving.address)
        page.locator("#pill.stale").wait_for()
        assert "No new numbers are coming in" in text_of(page, "#stale")
    site.close()


def test_a_predicted_tick_is_not_drawn_as_zero(page, own_stage):
    page.goto(own_stage.address)
    settled(page)
    own_stage.site.predict()
    own_stage.app.state.desk.feed.wake()
    page.locator("#predicted").wait_for()
    assert text_of(page, '#rows tr[data-key="news"] .now') == "not measured in this tick"
    line = page.locator('#rows tr[data-key="news"] .line').first.get_attribute("d")
    assert not line.endswith("600 100"), "the curve ends where it was last measured"


def test_a_phone_needs_no_sideways_scroll(chromium, stage):
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for path in PAGES:
        page.goto(stage.address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    context.close()


@pytest.mark.parametrize("method", ["lpa", "adaptive"])
@pytest.mark.parametrize("width", [390, 320])
def test_predicted_ticks_fit_a_phone(chromium, tmp_path, method, width):
    """As it was: long words of doubt pushed names and curves aside, each row by another amount."""
    keys = Keys(["front", "/news/politics/international/2026/a-long-address-of-a-page.html", "jobs"])
    with Store.open(tmp_path / "site.db") as store:
        with store.curate("site", make_mechanism(method, keys, Guarantee.pure(Session(max_ticks=20), 1))) as curator:
            for tick in range(10):
                curator.release(Counts.of(keys, Tick(tick), [400, 100, 0]))
            curator.predict(Tick(10))
        context = chromium.new_context(viewport={"width": width, "height": 844})
        page = context.new_page()
        with Serving(create_app(store, settings=ServerSettings(public=True, port=0))) as serving:
            page.goto(serving.address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            names = [one.bounding_box() for one in page.locator("#rows th").all()]
            curves = [one.bounding_box() for one in page.locator("#rows .spark svg").all()]
        context.close()
    assert {(box["x"], box["width"]) for box in curves} == {(curves[0]["x"], curves[0]["width"])}
    assert curves[0]["width"] > width / 3
    assert min(box["width"] for box in names) > width / 3


def test_a_stream_without_a_measurement_fills_when_there_is_one(page, tmp_path):
    site = Site(tmp_path)
    site.predict()
    with Serving(create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05))) as serving:
        page.goto(serving.address)
        page.evaluate("window.kept = true")
        site.predict()
        page.wait_for_timeout(500)
        assert page.evaluate("window.kept"), "one more tick without a number is no reason to draw the page anew"
        assert "Nothing has been measured yet" in text_of(page, "#empty")
        assert not page.locator("#predicted").is_visible()
        site.tick()
        page.locator("#rows").wait_for()
        assert page.locator("#rows tr").count() == 17
    site.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(chromium, stage, scheme):
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    for path in PAGES:
        page.goto(stage.address + path)
        assert page.evaluate(CONTRAST) == [], path
    context.close()


def test_everything_is_reached_by_keyboard(page, stage):
    page.goto(stage.address)
    settled(page)
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        name, outline = page.evaluate("""() => {
            const at = document.activeElement;
            return [at.textContent.trim() || at.id, getComputedStyle(at).outlineStyle];
        }""")
        reached.append(name)
        assert outline != "none", f"{name} does not show that it has the focus"
    largest = page.locator("#rows a").first.inner_text()  # which one, earlier ticks of the stage have decided
    for name in ("Skip to the numbers", "Top", "Guarantee", "About", "theme", "CSV", "truth", largest):
        assert name in reached, reached
    page.locator("#rows a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/key?**")


def test_the_theme_can_be_switched_and_is_remembered(page, stage):
    page.goto(stage.address)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    before = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != before
    page.reload()
    assert page.evaluate(ground) != before


def test_the_keys_page_draws_large_and_adds_up_a_range(page, stage):
    page.goto(f"{stage.address}/key?name=news&last=90")
    page.locator("#plot .scatterlayer").wait_for()
    assert "measurement" in page.locator("#plot .legend").text_content()
    page.fill("#from", "10")
    page.fill("#to", "19")
    page.click("#range button")
    until_on(page, "document.querySelector('#answer').innerText.includes('in 10 ticks')")
    assert "±" in text_of(page, "#answer .number")
    page.reload()
    assert "in 10 ticks" in text_of(page, "#answer"), "the address restores the view"
    box = page.locator("#plot .draglayer .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 80, steps=8)
    page.mouse.up()
    until_on(page, "!document.querySelector('#answer').innerText.includes('in 10 ticks')")


def test_the_top_reorders_without_a_reload(page, stage):
    page.goto(f"{stage.address}/top")
    settled(page)
    page.evaluate("window.stayed = true")
    stage.tick([9000 if i == 16 else 100 * i for i in range(17)])
    until_on(page, "document.querySelector('#rows tr').dataset.key === 'newsletter'")
    assert page.evaluate("window.stayed") is True
    places = page.locator("#rows .rank").all_inner_texts()
    assert places[0] == "1"
    assert any("-" in place for place in places)


def test_the_truth_bears_a_ribbon(page, stage):
    page.goto(stage.address)
    settled(page)
    assert not page.locator("#ribbon").is_visible()
    page.check("#truth")
    until_on(page, "document.querySelector('#curve .truth').getAttribute('d').length > 0")
    assert "Confidential" in text_of(page, "#ribbon")
    page.uncheck("#truth")
    assert not page.locator("#ribbon").is_visible()
    assert page.locator("#curve .truth").get_attribute("d") == ""


def test_without_a_script_the_latest_release_is_readable(chromium, stage):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(stage.address)
    assert page.locator("#rows tr").count() == 17
    assert "±" in text_of(page, "#rows tr:first-child .now")
    assert "Reload it for newer numbers" in text_of(page, "noscript")
    page.goto(f"{stage.address}/key?name=news&from=5&to=14")
    assert "in 10 ticks" in text_of(page, "#answer")
    context.close()


def test_less_motion_is_respected(chromium, stage):
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(stage.address)
    page.locator("#rows .number").first.evaluate("e => e.classList.add('fresh')")
    assert page.locator("#rows .number").first.evaluate("e => getComputedStyle(e).animationName") == "none"
    context.close()


def test_the_curator_logs_in_with_a_token(page, stage):
    token = stage.site.store.tokens.add("curator")
    page.goto(f"{stage.address}/curator")
    page.fill("#token", token)
    page.keyboard.press("Enter")
    page.locator(".facts").wait_for()
    assert "Ticks lost to crashes" in text_of(page, "main")
    assert page.evaluate("document.cookie") == "", "scripts cannot read the token"
    page.click("text=Log out")
    page.goto(f"{stage.address}/curator")
    assert "/login" in page.url
