"""A page that is open while keys are found: they appear, retire and stay readable, without a reload."""

import pytest
from tests.support.found_site import FoundSite, busy
from tests.support.patience import until_on

from hubbub.server import ServerSettings, Serving, create_app


@pytest.fixture
def shown(tmp_path):
    site = FoundSite(tmp_path).open()
    app = create_app(site.store, settings=ServerSettings(public=True, port=0, poll_seconds=0.1))
    with Serving(app) as serving:
        yield site, serving.address
    site.close()
    site.store.close()


def keys_on(page):
    return page.locator("#rows tr").evaluate_all("rows => rows.map(row => row.dataset.key)")


def test_keys_appear_and_retire_on_an_open_page(page, shown):
    site, address = shown
    site.minutes()
    busy(site, minutes=4)
    page.goto(f"{address}/?stream=site")
    page.wait_for_selector("#rows tr")
    page.evaluate("window.stayed = true")
    assert keys_on(page) == ["other"]
    busy(site, minutes=8, name="q")
    until_on(page, "document.querySelectorAll('#rows tr').length === 3")
    assert sorted(keys_on(page)) == ["/", "/news", "other"]
    busy(site, minutes=30, name="r", pages=["/"])
    until_on(page, "document.querySelectorAll('#rows tr').length === 2")
    assert sorted(keys_on(page)) == ["/", "other"]
    assert page.evaluate("window.stayed") is True


def test_the_lists_say_what_they_are_for_and_offer_patterns(page, shown):
    site, address = shown
    site.minutes()
    busy(site, minutes=12, pages=["/", "/article/1", "/article/22", "/article/303"])
    page.goto(f"{address}/items?stream=site.keys")
    assert page.locator("h1").inner_text() == "Keys that were found"
    assert "Nobody listed the pages that site counts" in page.locator("main").inner_text()
    assert "/article/*" in page.locator("#patterns").inner_text()
    assert "/secret" not in page.content()
    page.goto(f"{address}/guarantee?stream=site.keys")
    said = page.locator("main").inner_text()
    assert "in the one list of the period in which it begins, in each of its two rounds" in said
    assert "with all that they ever did" not in said
