"""Every route and setting stands in the documents."""

from pathlib import Path

from hubbub.server import ServerSettings, create_app
from hubbub.server.routes import pages
from hubbub.server.routes.describe import ErrorAnswer
from hubbub.store import Store

DOCS = Path(__file__).parents[3] / "docs"


def test_every_route_is_documented(tmp_path):
    text = (DOCS / "api.md").read_text()
    with Store.open(tmp_path / "x.db") as store:
        described = create_app(store).openapi()["paths"]
    assert len(described) >= 12
    for path, methods in described.items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in text, f"{method.upper()} {path} is not in docs/api.md"


def test_every_page_is_documented():
    text = (DOCS / "dashboard.md").read_text() + (DOCS / "api.md").read_text()
    for route in pages.router.routes:
        assert f"`{route.path}`" in text or route.path in ("/logout", "/assets/{name}"), route.path


def test_every_status_is_documented():
    text = (DOCS / "api.md").read_text()
    for status in ErrorAnswer.CODES:
        assert str(status) in text


def test_every_setting_says_what_it_is():
    for name, field in ServerSettings.model_fields.items():
        assert field.description, name
