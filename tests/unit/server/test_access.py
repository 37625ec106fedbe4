"""Who may do what."""

import httpx
import pytest

from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.access import COOKIE

READ = "/v1/streams/site/top"
EVENTS = "/v1/streams/site/events"
STATUS = "/v1/streams/site/status"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_without_a_token_nothing_is_read(closed):
    answer = closed.get(READ)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    for page in ("/", "/top", "/key?name=news", "/guarantee", "/about", "/curator"):
        assert closed.get(page).headers["location"].startswith("/login?next=/")
    assert closed.get("/healthz").status_code == 200


@pytest.mark.parametrize(("role", "status"), [("reader", 200), ("curator", 200), ("ingest", 403)])
def test_reading_takes_a_reader(closed, tokens, role, status):
    assert closed.get(READ, headers=bearer(tokens[role])).status_code == status


@pytest.mark.parametrize("token", ["-", "nonsense", "x" * 500, "Ünicode"])
def test_an_unknown_token_is_refused(closed, token):
    assert closed.get(READ, headers={"Authorization": f"Bearer {token}".encode()}).status_code == 401
    assert closed.get(READ, headers={"Authorization": b"Basic abc"}).status_code == 401


@pytest.mark.parametrize(("role", "status"), [("reader", 403), ("curator", 403), ("ingest", 202)])
def test_sending_takes_its_own_role_even_where_reading_is_open(client, tokens, role, status):
    headers = {**bearer(tokens[role]), "Content-Type": "application/x-ndjson"}
    assert client.post(EVENTS, content=b"{}", headers=headers).status_code == status
    assert client.post(EVENTS, content=b"{}").status_code == 401


def test_a_cookie_never_sends(client, tokens):
    client.cookies.set(COOKIE, tokens["ingest"])
    assert client.post(EVENTS, content=b"{}").status_code == 401


def test_a_revoked_token_ends_at_once(closed, site):
    secret = site.store.tokens.add("reader")
    assert closed.get(READ, headers=bearer(secret)).status_code == 200
    site.store.tokens.revoke(site.store.tokens.lookup(secret).id)
    assert closed.get(READ, headers=bearer(secret)).status_code == 401


def test_status_is_for_the_curator(client, closed, tokens):
    assert client.get(STATUS).status_code == 401
    assert client.get(STATUS, headers=bearer(tokens["reader"])).status_code == 403
    assert client.get(STATUS, headers=bearer(tokens["curator"])).json()["status"]["dropped_share"] == 0.012
    assert closed.get(STATUS, headers=bearer(tokens["curator"])).status_code == 501


def test_logging_in_keeps_the_token_where_scripts_cannot_read_it(closed, tokens):
    answer = closed.post("/login", data={"token": tokens["curator"], "next": "/curator"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/curator")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    page = closed.get("/curator")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert "This server only reads the store" in page.text
    closed.post("/logout")
    assert closed.get("/curator").status_code == 303


def test_the_curators_page_shows_the_pipelines_facts(client, tokens):
    client.cookies.set(COOKIE, tokens["curator"])
    page = client.get("/curator").text
    assert "Dropped by the bound" in page
    assert "1.2 %" in page


@pytest.mark.parametrize("token", ["", "nonsense"])
def test_a_wrong_token_does_not_log_in(closed, token):
    answer = closed.post("/login", data={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_token_for_sending_does_not_log_in(closed, tokens):
    assert closed.post("/login", data={"token": tokens["ingest"]}).status_code == 403


@pytest.mark.parametrize("address", ["//evil.example", "https://evil.example", "/\\evil.example", "evil"])
def test_logging_in_leads_nowhere_else(closed, tokens, address):
    answer = closed.post("/login", data={"token": tokens["reader"], "next": address})
    assert answer.headers["location"] == "/"
    assert "evil" not in closed.get("/login", params={"next": address}).text


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_forms_of_other_sites_are_refused(closed, tokens, headers):
    assert closed.post("/login", data={"token": tokens["reader"]}, headers=headers).status_code == 403
    assert closed.post("/logout", headers=headers).status_code == 403


def test_the_stream_that_comes_first_can_be_set(site):
    settings = ServerSettings(public=True, port=0, stream="other")
    with Serving(create_app(site.store, settings=settings)) as serving:
        assert httpx.get(serving.address).status_code == 404
        assert httpx.get(f"{serving.address}/?stream=site").status_code == 200
