"""HEAD is GET without the body, everywhere."""

import pytest

READS = ["/", "/site/top", "/healthz", "/metrics", "/v1/streams", "/v1/streams/site/releases", "/v1/streams/none/top"]
CHANGES = {"date", "content-length", "last-modified", "etag"}  # a page drawn a second later may say another time


@pytest.mark.parametrize("path", READS)
def test_head_says_what_get_says(client, path):
    get, head = client.get(path), client.head(path)
    assert head.status_code == get.status_code
    assert head.content == b""
    assert set(head.headers) == set(get.headers)
    for name in set(get.headers) - CHANGES:
        assert head.headers[name] == get.headers[name], name


def test_a_live_connection_ends_after_its_headers(client, app):
    answer = client.head("/v1/streams/site/live")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.content == b""
    assert client.get("/v1/streams").status_code == 200
    assert app.state.desk.feed.viewers == 0


def test_head_does_not_send(client):
    assert client.head("/v1/streams/site/events").status_code == 405
