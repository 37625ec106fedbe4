"""The Map page as a person meets it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from tests.support.city import MAPS, City
from tests.support.contrast import CONTRAST
from tests.support.patience import until_on

from hubbub.released import plus_minus
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.spatial import in_polygon, in_rectangle, total, total_over
from hubbub.spatial.outlines import frame_of

TICKS = 8
MOST_BYTES = 150_000


class Town:
    def __init__(self, folder, kind="roads", ticks=TICKS, **settings):
        start = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=max(ticks, 1))
        self.city = City(folder, kind, start=start).run(ticks)
        chosen = ServerSettings(
            title="Example", caption="vehicles now", public=True, port=0, poll_seconds=30, **settings
        )
        self.app = create_app(self.city.store, settings=chosen)
        self.serving = Serving(self.app).start()
        self.address = self.serving.address

    def tick(self):
        release = self.city.tick()
        self.app.state.desk.feed.wake()
        return release

    def released(self, tick):
        return next(iter(self.city.store.releases("city", first=tick, last=tick)))

    def close(self):
        self.serving.stop()
        self.city.close()


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    patch, made = pytest.MonkeyPatch(), {}
    folder = tmp_path_factory.mktemp("towns")
    patch.setenv("HUBBUB_STATE", str(folder / "state"))

    def of(kind="roads"):
        if kind not in made:
            made[kind] = Town(folder, kind)
        return made[kind]

    yield of
    for town in made.values():
        town.close()
    patch.undo()


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    return tmp_path


def ready(page):
    page.wait_for_selector("body[data-ready]")


def text_of(page, selector):
    return page.locator(selector).inner_text()


def shown(page, tick):
    until_on(page, f"document.body.dataset.shown === '{tick}'")


def colours(page):
    """How many different colours the picture has."""
    page.expected = [*page.expected, "willReadFrequently"]
    return page.evaluate("""() => {
        const canvas = document.getElementById('cells');
        const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(image.data.buffer)).size;
    }""")


@pytest.mark.parametrize("kind", sorted(MAPS))
def test_every_map_is_drawn_and_told(page, towns, kind):
    town = towns(kind)
    page.goto(town.address)
    ready(page)
    newest = town.released(TICKS - 1)
    assert text_of(page, "#total") == total(newest, np.arange(len(town.city.place))).text
    assert colours(page) > 3
    assert page.locator("#classes li").count() >= 2
    for number in page.locator("#areas .number").all():
        assert "±" in number.inner_text()
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    until_on(page, "document.getElementById('cell-between').textContent.startsWith('95 of 100')")
    name = text_of(page, "#cell-name").partition(" ")[2]
    assert text_of(page, "#cell") == newest[name].text


def test_a_rectangle_has_the_numbers_of_the_function(page, towns):
    town = towns()
    page.goto(town.address)
    ready(page)
    page.click("[data-mode=rectangle]")
    box = page.locator("#map").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle[0] - 90, middle[1] - 70)
    page.mouse.down()
    page.mouse.move(middle[0] + 110, middle[1] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url("**bounds=**")
    bounds = tuple(map(float, page.evaluate("new URLSearchParams(location.search).get('bounds')").split(",")))
    cells = in_rectangle(town.city.place, bounds)
    assert 0 < len(cells) < len(town.city.place)
    wanted = total(town.released(TICKS - 1), cells)
    until_on(page, "document.querySelector('#sum .number').textContent.includes('±')")
    assert text_of(page, "#sum") == wanted.text
    assert text_of(page, "#sum-between") == wanted.interval
    assert f"{len(cells):,} cells" in text_of(page, "#sum-words")
    page.reload()
    until_on(page, f"document.querySelector('#sum .number').textContent === {wanted.text!r}")
    page.focus("#map")
    page.keyboard.press("Escape")
    assert not page.locator("#answer").is_visible()
    assert "bounds" not in page.url


def test_an_area_over_a_span_of_time(page, towns):
    """Ticks of a minute, eight of them: ten minutes are offered, and the answer says how many there were."""
    town = towns()
    west, south, east, north = frame_of(town.city.place)
    bounds = (west, south, (west + east) / 2, (south + north) / 2)
    page.goto(f"{town.address}/map?bounds={','.join(map(str, bounds))}")
    ready(page)
    assert page.locator("#span option").all_inner_texts()[:2] == ["this tick", "10 minutes, on average"]
    page.select_option("#span", "10")
    wanted = total_over(town.city.store.releases("city"), in_rectangle(town.city.place, bounds)).mean
    until_on(page, f"document.querySelector('#sum .number').textContent === {wanted.text!r}")
    assert text_of(page, "#sum-between") == wanted.interval
    assert f"on average over {TICKS} minutes up to" in text_of(page, "#sum-words")
    page.reload()
    until_on(page, f"document.querySelector('#sum .number').textContent === {wanted.text!r}")
    page.select_option("#span", "")
    until_on(page, "!location.search.includes('ticks')")


def test_a_polygon_too(page, towns):
    town = towns()
    page.goto(town.address)
    ready(page)
    page.click("[data-mode=polygon]")
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for dx, dy in ((-120, -80), (120, -60), (0, 120), (-120, -80)):
        page.mouse.click(x + dx, y + dy)
    page.wait_for_url("**polygon=**")
    numbers = list(map(float, page.evaluate("new URLSearchParams(location.search).get('polygon')").split(",")))
    corners = [numbers[i : i + 2] for i in range(0, len(numbers), 2)]
    assert len(corners) == 3
    shape = {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
    wanted = total(town.released(TICKS - 1), in_polygon(town.city.place, shape))
    until_on(page, f"document.querySelector('#sum .number').textContent === {wanted.text!r}")


def test_time_is_walked_through(page, towns):
    town = towns()
    page.goto(town.address)
    ready(page)
    page.focus("#tick")
    page.keyboard.press("Home")
    shown(page, 0)
    assert text_of(page, "#total") == total(town.released(0), np.arange(len(town.city.place))).text
    assert page.locator("#past").is_visible()
    assert "tick=0" in page.url
    assert "first=0&last=0" in page.locator("a", has_text="GeoJSON").get_attribute("href")
    page.focus("#map")
    page.keyboard.press("Space")
    shown(page, TICKS - 1)
    assert not page.locator("#past").is_visible()
    assert text_of(page, "#play") == "Play"
    page.keyboard.press(",")
    shown(page, TICKS - 2)
    page.click("#live")
    shown(page, TICKS - 1)


def test_the_map_is_used_by_keyboard(page, towns):
    town = towns()
    page.goto(town.address)
    ready(page)
    page.focus("#map")
    page.keyboard.press("r")
    page.keyboard.press("ArrowRight")
    first = text_of(page, "#cell-name").split()[1]
    page.keyboard.press("Enter")
    for key in ("Shift+ArrowRight", "Shift+ArrowDown"):
        page.keyboard.press(key)
    second = text_of(page, "#cell-name").split()[1]
    assert first != second
    page.keyboard.press("Enter")
    page.wait_for_url("**bounds=**")
    (x, y), (x_end, y_end) = (town.city.place.centres([town.city.place.position(n)]) for n in (first, second))
    bounds = tuple(map(float, page.evaluate("new URLSearchParams(location.search).get('bounds')").split(",")))
    wanted = (min(x, x_end)[0], min(y, y_end)[0], max(x, x_end)[0], max(y, y_end)[0])
    assert bounds == pytest.approx(wanted, rel=1e-6, abs=1e-3)
    before = page.evaluate("document.getElementById('cells').toDataURL()")
    page.keyboard.press("+")
    assert page.evaluate("document.getElementById('cells').toDataURL()") != before
    page.keyboard.press("0")
    assert page.evaluate("document.getElementById('cells').toDataURL()") == before


def test_everything_is_reached_by_keyboard_and_named(page, towns):
    page.goto(towns().address)
    ready(page)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        name, outline = page.evaluate("""() => {
            const at = document.activeElement;
            const label = at.id && document.querySelector(`label[for="${at.id}"]`);
            const name = at.getAttribute('aria-label') || label?.textContent || at.textContent.trim();
            return [name, getComputedStyle(at).outlineStyle];
        }""")
        assert name, "a control without a name"
        assert outline != "none", f"{name} does not show that it has the focus"
        reached.append(name)
    for name in ("Rectangle", "Polygon", "Zoom in", "Show the whole map", "Play", "Which tick is shown", "Keys", "CSV"):
        assert name in reached, reached
    assert any(name.startswith("Map of vehicles now") for name in reached)


def test_an_area_of_the_table_is_chosen(page, towns):
    town = towns("hexagons")
    page.goto(town.address)
    ready(page)
    button = page.locator("#areas button").first
    name = button.inner_text()
    number = page.locator("#areas .number").first.inner_text()
    before = page.evaluate("document.getElementById('over').toDataURL()")
    button.click()
    until_on(page, f"document.querySelector('#sum .number').textContent === {number!r}")
    assert page.locator("#areas button").first.get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.getElementById('over').toDataURL()") != before, "it is shown where it is"
    assert f"area={name}" in page.url


def test_cells_within_their_noise_say_so(page, towns):
    town = towns()
    release = town.released(TICKS - 1)
    at = int(np.argmin(release.values))
    assert not release.at(at).is_above_zero
    page.goto(town.address)
    ready(page)
    west, south, east, north = frame_of(town.city.place)
    (x,), (y,) = town.city.place.centres([at])
    box = page.locator("#map").bounding_box()
    aspect = (north - south) / (east - west)
    scale = min(box["width"], box["height"] / aspect) * 0.98
    px = box["x"] + box["width"] / 2 + ((x - west) / (east - west) - 0.5) * scale
    py = box["y"] + box["height"] / 2 + ((north - y) / (north - south) - 0.5) * scale * aspect
    page.mouse.click(px, py)
    until_on(page, "document.getElementById('cell-between').textContent.startsWith('95 of 100')")
    assert text_of(page, "#cell-name") == f"cell {town.city.place.names[at]}"
    assert text_of(page, "#cell-words") == "within the noise: may be zero"
    assert "within_noise" in page.locator("#cell .number").get_attribute("class")
    assert "±" in text_of(page, "#cell"), "a number is never told without its error"


def test_a_tick_arrives_and_who_looks_at_the_past_stays_there(page, own):
    town = Town(own)
    page.goto(town.address)
    ready(page)
    page.evaluate("window.stayed = true")
    town.tick()
    shown(page, TICKS)
    page.focus("#tick")
    page.keyboard.press("Home")
    shown(page, 0)
    town.tick()
    until_on(page, f"document.getElementById('tick').max === '{TICKS + 1}'")
    assert page.evaluate("document.body.dataset.shown") == "0"
    town.city.miss()
    town.app.state.desk.feed.wake()
    until_on(page, f"document.getElementById('tick').max === '{TICKS + 2}'")
    page.click("#live")
    shown(page, TICKS + 2)
    assert "predicted, not measured" in text_of(page, "#predicted")
    assert page.evaluate("window.stayed") is True
    page.goto("about:blank")
    town.close()


def test_an_empty_map_explains_itself_and_fills(page, own):
    town = Town(own, ticks=0)
    page.goto(town.address)
    assert "Nothing has been released yet" in text_of(page, "#empty")
    town.tick()
    ready(page)
    assert page.locator("#map").is_visible()
    page.goto("about:blank")
    town.close()


def test_a_lost_connection_says_so_and_the_picture_stays(page, own):
    page.expected = ["ERR_", "Failed to load resource"]
    town = Town(own)
    page.goto(town.address)
    ready(page)
    town.serving.stop()
    page.locator("#lost").wait_for()
    assert "dimmed" in page.locator("body").get_attribute("class")
    assert colours(page) > 3
    page.focus("#map")
    page.keyboard.press(",")
    page.locator("#trouble").wait_for()
    assert colours(page) > 3
    town.close()


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_needs_no_sideways_scroll(chromium, towns, width):
    context = chromium.new_context(viewport={"width": width, "height": 780}, has_touch=True, is_mobile=True)
    page = context.new_page()
    for kind in ("roads", "hexagons"):
        page.goto(towns(kind).address)
        ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("#map").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert box["height"] < 0.65 * 780, "there is room beside the map to scroll the page"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(chromium, towns, scheme):
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    for kind in ("roads", "zones"):
        page.goto(f"{towns(kind).address}/map?tick=2")
        ready(page)
        assert page.evaluate(CONTRAST) == []
    context.close()


def test_dark_is_another_picture(page, towns):
    page.goto(towns().address)
    ready(page)
    before = page.evaluate("document.getElementById('cells').toDataURL()")
    page.click("#theme")
    assert page.evaluate("document.getElementById('cells').toDataURL()") != before


def test_the_page_is_small_before_its_data(page, towns):
    sizes = {}

    def note(answer):
        if "/v1/" not in answer.url:
            sizes[answer.url] = len(answer.body())

    page.on("response", note)
    page.goto(towns().address)
    ready(page)
    assert len(sizes) >= 7
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_strange_names_are_text(page, towns):
    page.goto(towns("zones").address)
    ready(page)
    assert "<b>hill" in text_of(page, "#areas")
    assert page.locator("#areas b").count() == 0


def test_numbers_are_rounded_as_everywhere(page, towns):
    page.goto(towns().address)
    ready(page)
    pairs = [(1237.4, 58), (12480.2, 312), (0.1234, 0.0021), (97, 0), (3.5984, 1.98), (9.96, 0.351), (0, 5), (-0.2, 3)]
    said = page.evaluate(
        "async (pairs) => { const { plusMinus } = await import('/assets/map_data.js');"
        " return pairs.map(([v, e]) => plusMinus(v, e)); }",
        [list(pair) for pair in pairs],
    )
    assert said == [plus_minus(*pair) for pair in pairs]
