"""The page Personal as a newcomer meets it: mouse, keyboard, phone, dark, and what is told in words."""

import pytest
from tests.support.contrast import CONTRAST
from tests.support.patience import until_on

from hubbub.lab.playground import Playground
from hubbub.server import ServerSettings, Serving, create_lab_app


@pytest.fixture(scope="module")
def lab():
    app = create_lab_app(Playground(), settings=ServerSettings(title="Hubbub Lab", port=0))
    with Serving(app) as serving:
        yield serving.address


def opened(page, lab):
    page.goto(f"{lab}/lab/personal")
    until_on(page, "document.querySelector('#map')?.dataset.turn >= 1")


def turned(page, act):
    before = int(page.locator("#map").get_attribute("data-turn"))
    act()
    until_on(page, f"Number(document.querySelector('#map').dataset.turn) > {before}")


def test_a_click_moves_you_and_the_server_learns_the_area_alone(page, lab):
    opened(page, lab)
    assert "one of 16 places" in page.locator("#knows").inner_text()
    assert page.locator("#results tr").count() == 5
    asked = page.locator("#request").inner_text()
    turned(page, lambda: page.locator("#cell-1-6").click())
    assert page.locator("#request").inner_text() == asked, "elsewhere in the same area the same is sent"
    turned(page, lambda: page.locator("#cell-7-0").click())
    assert "Exactly where you are" in page.locator("#knows").inner_text()
    assert page.locator("#map [aria-selected=true]").get_attribute("id") == "cell-7-0"


def test_sensitive_places_and_sliders(page, lab):
    opened(page, lab)
    page.locator("input[value=sensitive]").check()
    turned(page, lambda: page.locator("#cell-7-0").click())
    assert page.locator("#beliefs tr").count() == 2
    turned(page, lambda: page.locator("#k").fill("1"))
    assert page.locator("#results tr").count() == 1
    turned(page, lambda: page.locator("#leaves").fill("6"))
    assert "one of 64 places" in page.locator("#knows").inner_text()
    turned(page, lambda: page.locator("#cell-7-0").click())
    turned(page, lambda: page.locator("#cell-2-5").click())
    assert "nothing is called sensitive" in page.locator("#beliefs").inner_text()


def test_precision_and_coverage(page, lab):
    opened(page, lab)
    rows = page.locator("#ends tr")
    first = rows.nth(1).locator("td").all_inner_texts()
    assert [text.endswith("%") for text in first] == [True] * 4
    assert first[1] == "100 %"
    turned(page, lambda: page.locator("#floor").fill("60"))
    after = rows.nth(1).locator("td").all_inner_texts()
    assert float(after[3].split()[0]) < 100 <= float(first[3].split()[0])
    assert float(after[2].split()[0]) > float(first[2].split()[0])


def test_it_works_with_keys_alone(page, lab):
    opened(page, lab)
    page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#spoken").inner_text() == "column 4, row 4"
    turned(page, lambda: page.keyboard.press("Enter"))
    assert "you are here" in page.locator("#cell-4-4").get_attribute("aria-label")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(page, lab, theme):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=theme)
    opened(page, lab)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(CONTRAST) == []
    assert "What this does not hide" in page.locator("summary").last.inner_text()
