"""The Items page as a person meets it."""

import pytest
from tests.support.contrast import CONTRAST
from tests.support.item_lists import STRANGE, falling, log_of, opened, publish
from tests.support.patience import until_on

from hubbub.monitor import Lists
from hubbub.monitor.list_facts import AboutLists
from hubbub.server import ServerSettings, Serving, create_app

MANY = tuple(f"query {i:03}" for i in range(130))
OPTIONS = {"lists": 5, "epsilon": 100, "max_items": 150}
PATHS = ("/", "/items?list=0", "/items?list=1", "/items?q=nothing", "/guarantee", "/about")


class Shelf:
    def __init__(self, folder):
        self.place = folder / "lists.db"
        publish(self.place, log_of(dict.fromkeys(MANY, 900)), None, log_of(falling(STRANGE)), **OPTIONS)
        self.store = opened(self.place)
        settings = ServerSettings(title="Daily Example", public=True, port=0, poll_seconds=0.05)
        self.serving = Serving(create_app(self.store, settings=settings, items=AboutLists())).start()
        self.address = self.serving.address


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    folder, patch = tmp_path_factory.mktemp("shelf"), pytest.MonkeyPatch()
    patch.setenv("HUBBUB_STATE", str(folder / "state"))
    made = Shelf(folder)
    yield made
    made.serving.stop()
    made.store.close()
    patch.undo()


def items(page):
    return page.locator("#rows bdi").all_inner_texts()


def test_it_searches_as_one_types(page, shelf):
    page.goto(f"{shelf.address}/items?list=0")
    assert len(items(page)) == 100
    page.evaluate("window.stayed = true")
    page.locator("#q").press_sequentially("QUERY 12")
    until_on(page, "document.querySelectorAll('#rows tr').length === 10")
    assert sorted(items(page)) == [f"query 12{i}" for i in range(10)]
    assert page.locator("#said").inner_text() == "10 of 130 items"
    assert page.locator("#pages a:visible").count() == 0
    assert page.evaluate("window.stayed") is True
    number = page.locator("#rows .number").first
    assert "±" in number.inner_text()
    assert number.get_attribute("title").startswith("95 of 100 times between")
    page.reload()
    assert len(items(page)) == 10, "the address restores the view"
    page.locator("#q").press_sequentially("9 and more")
    page.locator("#none").wait_for()
    assert not page.locator(".items").is_visible()
    page.fill("#q", "")
    until_on(page, "document.querySelectorAll('#rows tr').length === 100")


def test_what_the_script_draws_is_what_the_server_draws(page, shelf):
    page.goto(shelf.address)
    text = "document.getElementById('rows').innerText"
    marks = (
        "[...document.querySelectorAll('#rows rect')].map(r => `${r.getAttribute('class')} ${r.getAttribute('width')}`)"
    )
    before, drawn = page.evaluate(text), page.evaluate(marks)
    assert len(drawn) == 3 * len(STRANGE)
    page.evaluate("document.getElementById('rows').replaceChildren()")
    page.locator("#q").press("Enter")
    until_on(page, f"document.querySelectorAll('#rows tr').length === {len(STRANGE)}")
    assert (page.evaluate(text), page.evaluate(marks)) == (before, drawn)


def test_peoples_words_are_text_and_stay_in_their_place(page, shelf):
    page.goto(shelf.address)
    assert sorted(items(page)) == sorted(STRANGE)
    for _ in range(2):  # as the server drew it, then as the script does
        assert page.locator("#rows script, #rows b").count() == 0
        right = [one.bounding_box() for one in page.locator("#rows .now").all()]
        assert len({(box["x"], box["width"]) for box in right}) == 1, "numbers stand below each other"
        page.locator("#q").press("Enter")
        page.wait_for_url("**list=2**")


def test_pages_and_lists_are_chosen(page, shelf):
    page.goto(shelf.address)
    page.select_option("#list", "0")
    page.wait_for_url("**list=0**")
    first = items(page)
    page.click("#after")
    page.wait_for_url("**page=2**")
    assert len(items(page)) == 30
    assert not {*first} & {*items(page)}
    assert "page 2 of 2" in page.locator("#pages").inner_text()
    page.select_option("#list", "1")
    page.wait_for_url("**list=1**")
    assert "List 1 is lost" in page.locator("#empty").inner_text()


def test_everything_is_reached_by_keyboard(page, shelf):
    page.goto(f"{shelf.address}/items?list=0")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # that was the last one
        name, outline = page.evaluate("""() => {
            const at = document.activeElement;
            return [at.id || at.textContent.trim(), getComputedStyle(at).outlineStyle];
        }""")
        reached.append(name)
        assert outline != "none", f"{name} does not show that it has the focus"
    for name in ("Skip to the numbers", "Items", "Guarantee", "About", "theme", "list", "q", "after", "CSV", "JSON"):
        assert name in reached, reached


@pytest.mark.parametrize("width", [360, 320])
def test_a_phone_needs_no_sideways_scroll(chromium, shelf, width):
    context = chromium.new_context(viewport={"width": width, "height": 740})
    page = context.new_page()
    for path in PATHS:
        page.goto(shelf.address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(chromium, shelf, scheme):
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    for path in PATHS:
        page.goto(shelf.address + path)
        assert page.evaluate(CONTRAST) == [], path
    context.close()


def test_without_a_script(chromium, shelf):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{shelf.address}/items?list=0")
    page.fill("#q", "Query 11")
    page.click("#search button")
    assert len(items(page)) == 10
    page.select_option("#list", "2")
    page.click("#which button")
    assert sorted(items(page)) == sorted(STRANGE)
    context.close()


def test_a_first_list_appears_and_a_newer_one_is_told_of(page, tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    publish(tmp_path / "lists.db", lists=2)
    with opened(tmp_path / "lists.db") as store:
        app = create_app(store, settings=ServerSettings(public=True, port=0, poll_seconds=0.05), items=AboutLists())
        with Serving(app) as serving, Lists(store, "searches", lists=2, epsilon=4, delta="1e-4") as lists:
            page.goto(serving.address)
            assert "No list has been published yet" in page.locator("#empty").inner_text()
            lists.publish(log_of({"weather": 3000}))
            page.locator("#rows tr").first.wait_for()
            assert items(page) == ["weather"]
            lists.publish(log_of({"flu": 3000}))
            page.locator("#news").wait_for()
            assert items(page) == ["weather"], "what somebody reads stays"
            page.click("#news a")
            page.wait_for_url("**/items")
            assert items(page) == ["flu"]
            page.goto("about:blank")  # nobody listens any more when the server stops
