"""The Playground as a newcomer meets it."""

import json
import re
import subprocess
import sys

import pytest
from tests.support.contrast import CONTRAST
from tests.support.patience import until_on
from tests.support.site import Site

from hubbub.lab.playground import Playground
from hubbub.server import ServerSettings, Serving, create_app, create_lab_app

TABLE = "date,visits,sales\n" + "\n".join(f"2026-01-{day:02},{900 + 30 * day},{40 + day}" for day in range(1, 29))


@pytest.fixture(scope="module")
def lab():
    """The Lab alone, with no store behind it."""
    app = create_lab_app(Playground(), settings=ServerSettings(title="Hubbub Lab", port=0))
    with Serving(app) as serving:
        yield f"{serving.address}/lab"


@pytest.fixture
def page(page):
    """On a busy machine runs that were given up may still hold their turns: the page is refused and asks again."""
    page.expected = ["status of 429"]
    return page


SMALL = """() => [...document.querySelectorAll('main button, main select, main input')]
    .filter(e => e.offsetParent && !e.matches('.hidden, .linklike'))
    .filter(e => (e.closest('label') ?? e).getBoundingClientRect().height < 24).map(e => e.id || e.outerHTML)"""
"""Controls that a finger could miss: those below the 24 pixels of WCAG 2.2."""


def text_of(page, selector):
    return page.locator(selector).inner_text()


def settled(page, methods=3):
    """All methods have run and the picture is drawn."""
    until_on(page, f"document.querySelectorAll('#rows tr').length === {methods + 1}")
    until_on(page, "document.querySelector('#busy').textContent === ''")
    until_on(page, "document.querySelector('#plot .main-svg') !== null")


def drop(page, text, name="counts.csv"):
    """Let go of a file over the page."""
    page.evaluate(
        """([text, name]) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], name, { type: 'text/csv' }));
            const facts = { dataTransfer, bubbles: true, cancelable: true };
            for (const kind of ['dragenter', 'dragover', 'drop'])
                document.getElementById('dropzone').dispatchEvent(new DragEvent(kind, facts));
        }""",
        [text, name],
    )


def mode(page, name):
    page.locator(f'[name="mode"][value="{name}"]').check(force=True)


def slide(page, stop):
    page.locator("#strength").fill(str(stop))


def test_the_first_picture_comes_by_itself(page, lab):
    page.goto(lab)
    settled(page)
    assert "nothing is written to disk" in text_of(page, ".ribbon")
    assert re.search(r"usually within ± [\d,.]+ of the true ones", text_of(page, "#buys"))
    rows = page.locator("#rows tr")
    assert [row.split()[0] for row in rows.all_inner_texts()] == ["adaptive", "lpa", "sample", "all"]
    assert page.locator("#plot .main-svg").first.is_visible()
    assert "original, confidential" in page.locator("#plot").inner_text()


def test_sliding_says_what_it_buys(page, lab):
    page.goto(lab)
    settled(page)
    seen = []
    for stop in (0, 4, 8, 12):
        slide(page, stop)
        until_on(page, "!document.querySelector('#buys').classList.contains('old')")
        found = re.search(r"± ([\d,.]+)", text_of(page, "#buys"))[1]
        seen.append((text_of(page, "#strength-word"), text_of(page, "#amount"), float(found.replace(",", ""))))
        settled(page)
    assert [word for word, _, _ in seen] == ["very strong", "strong", "fair", "very weak"]
    assert [epsilon for _, epsilon, _ in seen] == ["0.01", "0.1", "1", "10"]
    assert seen[0][2] > seen[2][2] > seen[3][2], "less protection, smaller errors"


def test_nothing_jumps_while_a_hand_is_on_the_slider(page, lab):
    page.goto(lab)
    settled(page)
    page.evaluate("""() => {
        window.heights = new Set();
        const see = () => window.heights.add(document.getElementById('plot').offsetHeight);
        new ResizeObserver(see).observe(document.getElementById('plot'));
    }""")
    for stop in (6, 5, 4, 5, 6):
        slide(page, stop)
        page.wait_for_timeout(120)
    settled(page)
    assert len(page.evaluate("[...window.heights]")) == 1


def test_a_sample_a_unit_and_methods(page, lab):
    page.goto(lab)
    settled(page)
    page.select_option("#sample", "calm")
    settled(page)
    page.check('[name="unit"][value="session"]')
    assert page.locator("#ticks").input_value() == "10"
    settled(page, 2)
    assert text_of(page, "#rows").startswith("adaptive")
    assert page.locator('[data-method="sample"]').is_hidden(), "for visits it is lpa by another name"
    page.click("#others summary")
    page.check('[name="method"][value="fast"]')
    settled(page, 3)
    page.uncheck('[name="method"][value="lpa"]')
    settled(page, 2)
    for name in ("adaptive", "fast"):
        page.uncheck(f'[name="method"][value="{name}"]')
    until_on(page, "document.querySelector('#buys').textContent === 'Choose a method.'")


def test_a_dropped_table_and_its_columns(page, lab):
    page.goto(lab)
    settled(page)
    drop(page, TABLE)
    until_on(page, "document.querySelector('#about-series').textContent === '28 ticks, from your table'")
    settled(page)
    assert not page.is_checked("#repeat"), "somebody's own data get noise that nobody can repeat"
    assert page.locator("#column option").all_inner_texts() == ["visits", "sales"]
    page.select_option("#column", "sales")
    until_on(page, "document.querySelector('#buys').textContent.endsWith('about 55.')")
    settled(page)
    assert "sales" not in page.url
    assert "visits" not in page.url
    page.select_option("#sample", "calm")
    until_on(page, "document.querySelector('#about-series').textContent === '240 ticks'")
    page.select_option("#sample", "")
    until_on(page, "document.querySelector('#about-series').textContent === '28 ticks, from your table'")


def test_pasting_without_names(page, lab):
    page.goto(lab)
    settled(page)
    page.click("#paste-open")
    page.fill("#pasted", "120\n130\n125\n140\n")
    page.click("#paste-use")
    until_on(page, "document.querySelector('#about-series').textContent === '4 ticks, from your table'")
    settled(page)
    assert page.locator("#paste").is_hidden()
    assert page.locator("#pasted").input_value() == ""


def test_choosing_a_file(page, lab, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(TABLE)
    page.goto(lab)
    settled(page)
    page.set_input_files("#file", path)
    until_on(page, "document.querySelector('#about-series').textContent === '28 ticks, from your table'")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("day,flu\n0,50\n1,-60\n", "line 3"),
        ("day,flu\n0,50\n1,sixty\n", "line 3"),
        ("day,flu\n0,0.5\n", "line 2"),
        ("<html>", "no counts"),
        ("count\n" + "1\n" * 5001, "at most 5,000"),
        ("x" * 900_001, "too large for the page"),
    ],
)
def test_a_broken_table_is_refused_in_a_sentence_and_the_picture_stays(page, lab, table, said):
    page.expected += ["status of 422"]
    page.goto(lab)
    settled(page)
    drop(page, table)
    until_on(page, "!document.querySelector('#refused').hidden")
    assert said in text_of(page, "#refused")
    assert page.locator("#rows tr").count() == 4
    page.select_option("#sample", "calm")
    until_on(page, "document.querySelector('#refused').hidden")


def test_gaps_are_asked_about(page, lab):
    page.expected += ["status of 422"]
    page.goto(lab)
    settled(page)
    drop(page, "day,flu\n0,50\n1,60\n3,70\n4,80\n")
    until_on(page, "!document.querySelector('#refused').hidden")
    assert "the first in tick 2" in text_of(page, "#refused")
    page.select_option("#gaps", "predict")
    until_on(page, "document.querySelector('#about-series').textContent === '5 ticks, 1 of them gaps, from your table'")
    settled(page)
    mode(page, "step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Play')")
    for tick in range(5):
        page.click("#step")
        until_on(page, f"document.querySelector('#last-released').textContent.startsWith('Tick {tick}')")
    assert page.locator("#refused").is_hidden()


@pytest.mark.parametrize(
    "counts", [[5], [0] * 30, [3] * 15 + [3_000_000] * 15, [2**52] * 4], ids=["one", "zeros", "a million times", "2^52"]
)
def test_odd_series_are_drawn_too(page, lab, counts):
    page.goto(lab)
    settled(page)
    drop(page, "count\n" + "\n".join(map(str, counts)))
    until_on(page, f"document.querySelector('#about-series').textContent.startsWith('{len(counts)} tick')")
    settled(page)
    assert page.locator("#refused").is_hidden()
    assert "NaN" not in page.locator("main").inner_text()


def test_the_menu_of_a_dashboard_fits_a_phone(chromium, tmp_path):
    site = Site(tmp_path).run(3)
    app = create_app(site.store, settings=ServerSettings(public=True, port=0), lab=Playground())
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    with Serving(app) as serving:
        page.goto(serving.address)
        page.click(".menu summary")
        assert page.locator('.menu a[href="/lab"]').bounding_box()["x"] >= 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.click('.menu a[href="/lab"]')
        settled(page)
        assert page.locator(".menu summary").get_attribute("aria-current") == "page"
    context.close()
    site.close()


def test_stepping_and_playing(page, lab):
    page.goto(lab)
    settled(page)
    mode(page, "step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Play')")
    assert text_of(page, "#budget-words") == "100 % of the budget left"
    page.click("#step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Tick 0: ')")
    assert "± " in text_of(page, "#last-released")
    page.locator("#speed").fill("30")
    page.click("#play")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    until_on(page, "Number(/Tick (\\d+)/.exec(document.querySelector('#last-released').textContent)?.[1]) > 5")
    page.click("#play")
    left = int(text_of(page, "#budget-words").split()[0])
    assert left < 100
    page.click("#restart")
    until_on(page, "document.querySelector('#budget-words').textContent === '100 % of the budget left'")


def test_playing_to_the_end_of_a_table(page, lab):
    page.goto(lab)
    settled(page)
    drop(page, "count\n50\n60\n70\n")
    until_on(page, "document.querySelector('#about-series').textContent.startsWith('3 ticks')")
    mode(page, "step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Play')")
    page.locator("#speed").fill("30")
    page.click("#play")
    until_on(page, "document.querySelector('#last-released').textContent === 'That was the whole series.'")
    assert page.get_attribute("#play", "aria-pressed") == "false"


def test_typing_values_until_the_horizon(page, lab):
    page.expected += ["status of 409"]
    page.goto(lab)
    settled(page)
    mode(page, "type")
    until_on(page, "document.activeElement.id === 'value'")
    page.fill("#horizon", "3")
    page.press("#horizon", "Tab")
    until_on(page, "document.activeElement.id === 'value'")
    page.keyboard.type("12.5")
    page.keyboard.press("Enter")
    assert "whole number" in text_of(page, "#refused")
    for tick, value in enumerate((120, 130, 140)):
        page.fill("#value", str(value))
        page.press("#value", "Enter")
        until_on(page, f"document.querySelector('#last-released').textContent.startsWith('Tick {tick}: ')")
    assert page.locator("#refused").is_hidden()
    assert text_of(page, "#budget-words") == "0 % of the budget left"
    page.fill("#value", "150")
    page.press("#value", "Enter")
    until_on(page, "!document.querySelector('#refused').hidden")
    assert "horizon of 3 ticks" in text_of(page, "#refused")
    assert "Start a new stream" in text_of(page, "#refused")
    page.set_viewport_size({"width": 360, "height": 640})
    page.locator("#value").scroll_into_view_if_needed()
    box = page.locator("#refused").bounding_box()
    assert 0 <= box["y"] <= 640 - box["height"], "it is seen from where it was caused"
    page.click("#restart")
    until_on(page, "document.querySelector('#refused').hidden")


def saved(page, kind, path):
    with page.expect_download() as download:
        page.click(f'[data-export="{kind}"]')
    download.value.save_as(path)
    return path


def test_what_is_taken_along_agrees_and_the_program_repeats_it(page, lab, tmp_path):
    table = tmp_path / "counts.csv"
    table.write_text(TABLE)
    page.goto(lab)
    settled(page)
    drop(page, TABLE)
    until_on(page, "document.querySelector('#about-series').textContent === '28 ticks, from your table'")
    page.check("#repeat")
    page.wait_for_timeout(300)
    settled(page)
    page.select_option("#export-method", "lpa")
    csv = saved(page, "csv", tmp_path / "shown.csv").read_text()
    document = json.loads(saved(page, "json", tmp_path / "shown.json").read_text())
    assert len(csv.splitlines()) == 29
    assert [row["tick"] for row in document["releases"]] == list(range(28))
    program = saved(page, "python", tmp_path / "release.py")
    out = tmp_path / "again.csv"
    run = [sys.executable, str(program), str(table), "--seed", "1", "--out", str(out)]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert said.strip() == document["guarantee"]
    assert out.read_text() == csv


def test_a_link_restores_the_settings_and_holds_no_data(page, lab):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(lab)
    settled(page)
    page.select_option("#sample", "growing")
    page.check('[name="unit"][value="window"]')
    page.fill("#ticks", "24")
    slide(page, 9)
    page.uncheck('[name="method"][value="sample"]')
    settled(page, 2)
    page.click("#copy")
    until_on(page, "document.querySelector('#copied').textContent !== ''")
    address = page.evaluate("navigator.clipboard.readText()")
    assert "#" in address
    shown = text_of(page, "#rows")
    page.goto("about:blank")
    page.goto(address)
    settled(page, 2)
    assert page.locator("#sample").input_value() == "growing"
    assert page.locator("#ticks").input_value() == "24"
    assert text_of(page, "#amount") == "2"
    assert text_of(page, "#rows") == shown, "samples have noise that repeats, so the picture is the same"


@pytest.mark.parametrize(
    ("kind", "sent", "currency", "sure"),
    [
        ("approximate", {"epsilon": "0.5", "delta": "1e-9"}, "epsilon", "guesses right at most"),
        ("zcdp", {"rho": "0.1"}, "rho", "guesses right at most"),
    ],
)
def test_every_kind_of_promise_can_be_chosen(page, lab, kind, sent, currency, sure):
    asked = []
    page.on("request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/lab/run") else None)
    page.goto(lab)
    settled(page)
    assert text_of(page, "#currency") == "epsilon"
    assert "can be at most" in text_of(page, "#odds")
    page.select_option("#kind", kind)
    settled(page)
    assert {name: asked[-1].get(name) for name in sent} == sent
    assert asked[-1].get("rho" if kind == "approximate" else "epsilon") is None
    assert text_of(page, "#currency") == currency
    assert sure in text_of(page, "#odds")
    assert page.locator("#delta").is_visible() == (kind == "approximate")
    assert "Gaussian" in text_of(page, "#kind-words")
    slide(page, 2)
    settled(page)
    address, shown = page.url, text_of(page, "#rows")
    page.goto("about:blank")
    page.goto(address)
    settled(page)
    assert page.locator("#kind").input_value() == kind
    assert text_of(page, "#rows") == shown, "the link keeps the kind"
    mode(page, "step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Play')")
    page.click("#step")
    until_on(page, "document.querySelector('#last-released').textContent.startsWith('Tick 0: ')")
    assert page.locator("#refused").is_hidden()
    page.select_option("#kind", "pure")
    assert text_of(page, "#currency") == "epsilon"
    assert page.locator("#delta").is_hidden()


def test_another_delta_is_another_run(page, lab):
    asked = []
    page.on("request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/lab/run") else None)
    page.goto(f"{lab}#kind=approximate")
    settled(page)
    page.select_option("#delta", "1e-6")
    settled(page)
    assert asked[-1]["delta"] == "1e-6"
    assert "plus a chance of 1e-6" in text_of(page, "#odds")
    assert "delta=1e-6" in page.url


@pytest.mark.parametrize(
    "part",
    [
        "#sample=nobody&unit=family&strength=99&methods=x,y&seed=-1&mode=fly",
        "#%%%",
        "#seed=1e9",
        "#kind=perfect&delta=1",
    ],
)
def test_a_broken_link_does_no_harm(page, lab, part):
    page.goto(lab + part)
    settled(page)
    assert page.locator("#refused").is_hidden()


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("whole", 360, "light"), ("step", 360, "dark"), ("type", 360, "light"), ("whole", 1280, "dark")],
)
def test_it_fits_a_phone_and_the_night(chromium, lab, name, width, scheme):
    context = chromium.new_context(
        viewport={"width": width, "height": 740}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{lab}#mode={name}")
    until_on(page, "document.querySelector('#plot .main-svg') !== null")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALL) == []
    until_on(page, "!document.querySelector('.busy-now, .buys.old:not([hidden])')")
    assert page.evaluate(CONTRAST) == []
    context.close()


def test_everything_by_keyboard(page, lab):
    page.goto(lab)
    settled(page)
    reached = set()
    page.locator("#sample").focus()
    for _ in range(40):
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
        page.keyboard.press("Tab")
    assert {
        "sample",
        "file-label",
        "paste-open",
        "unit",
        "strength",
        "mode",
        "export-method",
        "copy",
        "method",
    } <= reached
    page.locator("#strength").focus()
    before = text_of(page, "#amount")
    page.keyboard.press("ArrowRight")
    until_on(page, f"document.querySelector('#amount').textContent !== '{before}'")


def test_every_control_has_a_name(page, lab):
    page.goto(lab)
    settled(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('main button, main select, main input, main textarea')]
            .filter(e => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map(e => e.id)"""
    )
    assert nameless == []


def test_without_a_script_it_says_what_it_needs(chromium, lab):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(lab)
    assert "This page needs JavaScript" in page.locator("noscript").inner_text()
    assert "hubbub release counts.csv" in page.locator("noscript").inner_text()
    assert not page.locator("#controls").is_visible()
    page.goto(f"{lab}/plan")
    assert "hubbub plan" in page.locator("noscript").inner_text()
    context.close()


def test_the_plan_names_an_epsilon(page, lab):
    page.expected += ["status of 422"]
    page.goto(f"{lab}/plan")
    page.check('[name="unit"][value="event"]')
    page.fill("#length", "30")
    page.click('#controls button[type="submit"]')
    until_on(page, "document.querySelector('#answer').textContent.startsWith('To be off by 20 %')")
    assert page.locator("#rows tr").count() == 6
    assert page.locator("#heads th").all_inner_texts()[:2] == ["protection", "adaptive"]
    until_on(page, "document.querySelector('#plot .main-svg') !== null")
    page.fill("#level", "0")
    page.evaluate("document.getElementById('controls').noValidate = true")
    page.click('#controls button[type="submit"]')
    until_on(page, "!document.querySelector('#refused').hidden")


@pytest.mark.parametrize(
    ("kind", "words"), [("zcdp", "needs a rho of"), ("approximate", "with a delta of 1e-9: ")], ids=["zcdp", "delta"]
)
def test_a_plan_of_another_kind(page, lab, kind, words):
    page.goto(f"{lab}/plan")
    page.check('[name="unit"][value="event"]')
    page.fill("#length", "30")
    page.select_option("#kind", kind)
    assert page.locator("#delta").is_visible() == (kind == "approximate")
    page.click('#controls button[type="submit"]')
    until_on(page, "document.querySelector('#answer').textContent.startsWith('To be off by 20 %')")
    assert words in text_of(page, "#answer")
    assert page.locator("#rows tr").count() == 6
    until_on(page, "document.querySelector('#plot .main-svg') !== null")
    assert ("rho: strong to weak" in page.locator("#plot").inner_text()) == (kind == "zcdp")


def test_a_process_that_is_gone_is_noticed(page):
    page.expected += ["ERR_"]
    serving = Serving(create_lab_app(Playground(), settings=ServerSettings(port=0))).start()
    page.goto(f"{serving.address}/lab")
    settled(page)
    serving.stop()
    slide(page, 2)
    until_on(page, "!document.querySelector('#refused').hidden")
    assert "The process does not answer" in text_of(page, "#refused")
    assert page.locator("#plot .main-svg").first.is_visible(), "the last picture stays"


def test_two_tabs_at_once(chromium, lab):
    pages = [chromium.new_page() for _ in range(3)]
    for page in pages:
        page.goto(f"{lab}#sample=walk")
    for page in pages:
        settled(page)
        assert page.locator("#refused").is_hidden()
        page.close()
