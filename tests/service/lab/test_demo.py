"""`make demo` as a newcomer meets it: started, looked at, stopped."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest
from tests.support.patience import PATIENCE, until


@pytest.fixture
def demo(request):
    command = [
        sys.executable,
        "-m",
        "hubbub",
        "demo",
        "--port",
        "0",
        "--visitors",
        "2000",
        "--seconds",
        "600",
        "--json",
        *getattr(request, "param", []),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            break
    assert text, process.stderr.read()
    yield json.loads(text)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 0, process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def get(demo, path):
    with urllib.request.urlopen(demo["address"] + path, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_the_demo_shows_a_living_site(demo):
    budget = json.loads(get(demo, f"/v1/streams/{demo['stream']}/budget"))
    assert "factor e^1" in budget["guarantee"]
    page = get(demo, "/")
    assert "front page" in page
    assert "Daily Example" in page
    settled = budget["settled"]
    assert settled >= 100, "the last two minutes were played before the door opened"
    where = f"/v1/streams/{demo['stream']}/budget"
    until(lambda: json.loads(get(demo, where))["settled"] >= settled + 3, "new ticks come")
    metrics = get(demo, "/metrics")
    assert "hubbub" in metrics


@pytest.mark.parametrize("demo", [["--city"]], indirect=True)
def test_the_demo_shows_a_living_city(demo):
    where = f"/v1/streams/{demo['stream']}"
    budget = json.loads(get(demo, f"{where}/budget"))
    assert "Each trip" in budget["guarantee"]
    settled = budget["settled"]
    assert settled >= 50, "the last two minutes were played before the door opened"
    page = get(demo, "/")
    assert "Example City" in page
    assert "vehicles on the road" in page
    until(lambda: json.loads(get(demo, f"{where}/budget"))["settled"] >= settled + 3, "new ticks come")
    told = json.loads(get(demo, f"{where}/releases?limit=1"))
    assert told
