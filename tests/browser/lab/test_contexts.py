"""The Contexts page as somebody meets it who wonders what an app can tell about him."""

import re

import pytest
from tests.support.contrast import CONTRAST
from tests.support.patience import until_on

from hubbub.lab.playground import Playground, masked
from hubbub.server import ServerSettings, Serving, create_lab_app

DAYS = "\n".join(["home,walk,work,work"] * 20 + ["home,walk,clinic,work"] * 2 + ["home,home,work,work"] * 8)
LONG = "a place with a name that goes on and on, as names of places do when nobody shortens them"
TAKEN = "document.querySelector('.policy.taken') !== null && !document.querySelector('.old-scene')"
SMALL = """() => [...document.querySelectorAll('main button, main select, main input')]
    .filter(e => e.offsetParent && !e.matches('.hidden, .linklike'))
    .filter(e => (e.closest('label') ?? e).getBoundingClientRect().height < 24).map(e => e.id || e.outerHTML)"""


@pytest.fixture(scope="module")
def lab():
    app = create_lab_app(Playground(), settings=ServerSettings(title="Hubbub Lab", port=0))
    with Serving(app) as serving:
        yield f"{serving.address}/lab/contexts"


@pytest.fixture
def page(page):
    """On a busy machine plans that were given up may still hold their turns: the page is refused and asks again."""
    page.expected = ["status of 429"]
    return page


def text_of(page, selector):
    return page.locator(selector).inner_text()


def opened(page, address):
    page.goto(address)
    until_on(page, TAKEN)


def paste(page, text):
    page.click("#paste-open")
    page.fill("#pasted", text)
    page.click("#paste-use")


def pasted(page, text, contexts):
    paste(page, text)
    until_on(page, f"document.querySelectorAll('#legend li').length === {contexts + 1}")
    until_on(page, f"{TAKEN} && document.querySelector('#answer').textContent.includes('Hybrid takes')")


def here(page, policy):
    return text_of(page, f'[data-policy="{policy}"] .here')


def test_the_first_day_comes_by_itself_and_tells_the_difference(page, lab):
    opened(page, lab)
    assert "stay in this tab" in text_of(page, ".ribbon")
    assert re.search(r"at most 10 points of a hundred for: clinic", text_of(page, "#answer"))
    assert re.search(r"MaskSensitive shows 99\.\d %, and belief may rise by up to 9\d", text_of(page, "#answer"))
    assert page.locator(".policy").count() == 4
    assert page.locator(".policy .shown svg").count() == page.locator(".policy .belief svg").count() == 4
    assert "clinic (sensitive)" in text_of(page, "#at")
    assert "a breach" in here(page, "mask-sensitive")
    for policy in ("simulatable", "probabilistic", "remembering"):
        assert "breach" not in here(page, policy)
        assert page.locator(f'[data-policy="{policy}"] .breach').count() == 0
    assert page.locator('[data-policy="mask-sensitive"] .belief .breach').count() > 0
    rows = page.locator("#rows tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["MaskSensitive", "Simulatable", "Probabilistic", "Remembering"]
    assert [row.endswith("none") for row in rows] == [False, True, True, True]
    assert "No policy that keeps this promise shows more than" in text_of(page, "#ceiling")


def test_delta_another_person_and_another_day(page, lab):
    opened(page, lab)
    page.locator("#delta").fill("6")
    until_on(page, "document.querySelector('#answer').textContent.includes('at most 20 points')")
    until_on(page, TAKEN)
    page.select_option("#person", "student")
    until_on(page, "document.querySelector('#answer').textContent.includes('bar, counselling')")
    until_on(page, TAKEN)
    assert page.locator("#about option").all_inner_texts() == ["bar", "counselling"]
    first, sensitive = text_of(page, "#which-day"), text_of(page, "#at")
    assert first == "Day 1 of 10"
    assert "(sensitive)" in sensitive
    drawn = page.locator("#day svg").inner_html()
    page.click("#another")
    assert text_of(page, "#which-day") == "Day 2 of 10"
    assert page.locator("#day svg").inner_html() != drawn
    for _ in range(9):
        page.click("#another")
    assert text_of(page, "#which-day") == "Day 1 of 10"
    assert text_of(page, "#at") == sensitive
    page.check("#together")
    until_on(page, "document.querySelector('#answer').textContent.includes('bar or counselling at each')")
    until_on(page, TAKEN)
    assert page.locator("#about-label").is_hidden()


def test_days_of_ones_own_and_what_is_sensitive_in_them(page, lab):
    opened(page, lab)
    pasted(page, DAYS, 4)
    assert text_of(page, "#about-days") == "30 days of 4 ticks, 360 minutes each from midnight; 4 contexts."
    assert page.locator("#paste").is_hidden()
    assert page.locator('[name="sensitive"]:checked').input_value() == "clinic", "the rarest, until somebody chooses"
    page.uncheck('[name="sensitive"][value="clinic"]')
    until_on(page, "!document.querySelector('#refused').hidden")
    assert "Tick at least one context" in text_of(page, "#refused")
    page.check('[name="sensitive"][value="walk"]')
    until_on(page, "document.querySelector('#answer').textContent.includes('for: walk at each single time')")
    until_on(page, TAKEN)
    assert page.locator("#refused").is_hidden()
    page.check("#sometime")
    until_on(page, "document.querySelector('#answer').textContent.includes('walk at any time')")
    until_on(page, TAKEN)
    page.select_option("#first", "2")
    until_on(page, "document.querySelector('#answer').textContent.includes('between ticks 2 and 3')")
    until_on(page, TAKEN)
    page.click("#commands summary")
    assert "--sensitive 'walk@2-3~' --delta 0.1" in text_of(page, "#command")
    assert "--smoothing 0" in text_of(page, "#command")
    assert page.url.endswith("/lab/contexts"), "nothing of the data is in the address"


def test_a_file_is_dropped(page, lab):
    opened(page, lab)
    page.evaluate(
        """(text) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], 'days.csv', { type: 'text/csv' }));
            for (const kind of ['dragenter', 'dragover', 'drop']) document.getElementById('dropzone')
                .dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        DAYS,
    )
    until_on(page, "document.querySelector('#about-days').textContent.startsWith('30 days')")
    until_on(page, TAKEN)


def test_what_cannot_be_read_says_what_to_do_and_the_picture_stays(page, lab):
    page.expected += ["status of 422"]
    opened(page, lab)
    paste(page, "home,work\nhome")
    until_on(page, "!document.querySelector('#refused').hidden")
    assert text_of(page, "#refused").endswith("Cut all days into the same ticks.")
    assert "of the choice before" in text_of(page, "#answer")
    assert page.locator("#pasted").input_value() == "home,work\nhome", "what was typed can be mended"
    assert page.locator("#day svg").is_visible()
    page.fill("#pasted", "x" * 900_001)
    page.click("#paste-use")
    until_on(page, "document.querySelector('#refused').textContent.includes('too large for the page')")


def test_a_policy_that_is_too_large_is_left_out(page, lab, monkeypatch):
    monkeypatch.setattr(masked, "_SLOW", 1)
    opened(page, lab)
    assert "too large for a page" in here(page, "remembering")
    assert page.locator("#rows tr").count() == 2
    assert "Hybrid takes Simulatable" in text_of(page, "#answer")


def test_one_context(page, lab):
    opened(page, lab)
    pasted(page, "home,home,home\nhome,home,home", 1)
    assert "MaskSensitive shows 0 %" in text_of(page, "#answer")
    assert "shown: home; belief 100 % → 100 %" in here(page, "simulatable")


def test_twenty_contexts_with_long_names_fit_a_phone(chromium, lab):
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    opened(page, lab)
    places = [f"{LONG}, number {k}".replace(",", "") for k in range(20)]
    days = [[places[0], *(places[(3 * day + 5 * tick) % 20] for tick in range(7))] for day in range(12)]
    pasted(page, "\n".join(map(",".join, days)), 20)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#numbers summary").click()
    until_on(page, "document.querySelectorAll('#tick-rows tr').length === 8")  # drawn once the browser says it is open
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1280, "dark")])
def test_it_fits_a_phone_and_the_night(chromium, lab, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    opened(page, lab)
    page.locator("#numbers summary").click()
    page.locator("#tick-rows tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALL) == []
    assert page.evaluate(CONTRAST) == []
    context.close()


def test_everything_by_keyboard_and_with_a_name(page, lab):
    opened(page, lab)
    reached = set()
    page.locator("#person").focus()
    for _ in range(40):
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
        page.keyboard.press("Tab")
    assert {
        "person",
        "file-label",
        "paste-open",
        "sensitive",
        "sometime",
        "first",
        "delta",
        "another",
        "tick",
    } <= reached
    page.locator("#tick").focus()
    page.keyboard.press("Home")
    assert text_of(page, "#at").startswith("0:00 to 0:30: home")
    assert here(page, "mask-sensitive") == "0:00: shown: home; belief 0 % → 0 %"
    page.keyboard.press("ArrowRight")
    assert text_of(page, "#at").startswith("0:30")
    assert page.get_attribute("#tick", "aria-valuetext").startswith("0:30")
    page.locator("#numbers summary").focus()
    page.keyboard.press("Enter")
    until_on(page, "document.querySelectorAll('#tick-rows tr').length === 48")
    assert page.locator("#tick-rows tr.sensitive").count() > 0
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('main button, main select, main input, main textarea, main svg[role]')]
            .filter(e => !(e.labels?.length || e.getAttribute('aria-label')))
            .filter(e => !(e.matches('button') && e.textContent.trim()))
            .map(e => e.id || e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_a_pointer_looks_at_a_tick(page, lab):
    opened(page, lab)
    box = page.locator("#day svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 20)
    assert text_of(page, "#at").startswith("23:30 to 24:00")
    assert page.locator(".strip .now").first.get_attribute("visibility") == "visible"


def test_without_a_script_and_without_a_process(chromium, page, lab):
    context = chromium.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto(lab)
    assert "hubbub mask plan" in bare.locator("noscript").inner_text()
    assert not bare.locator("#controls").is_visible()
    context.close()
    page.expected += ["ERR_"]
    serving = Serving(create_lab_app(Playground(), settings=ServerSettings(port=0))).start()
    opened(page, f"{serving.address}/lab/contexts")
    serving.stop()
    page.locator("#delta").fill("2")
    until_on(page, "!document.querySelector('#refused').hidden")
    assert "The process does not answer" in text_of(page, "#refused")
    assert page.locator("#day svg").is_visible()
