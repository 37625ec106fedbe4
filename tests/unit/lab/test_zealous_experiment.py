"""`hubbub reproduce zealous`, small: every number of the paper has a place, and the words are about the numbers."""

import json
import math

import numpy as np
import pytest

from hubbub.cli.main import main
from hubbub.itemlogs import ItemLog
from hubbub.lab import zealous_experiment
from hubbub.lab.item_data import packed
from hubbub.lab.item_tables import METHODS
from hubbub.lab.search_log import simulated_search_log
from hubbub.lab.zealous_domains import Domain, SearchDomains
from hubbub.lab.zealous_experiment import (
    EPSILON,
    HIDDEN,
    ORIGINAL,
    PAPER,
    Findings,
    Size,
    made_logs,
    run_zealous,
    steps,
)
from hubbub.lab.zealous_report import zealous_result
from hubbub.lab.zealous_statements import statements

TINY = Size(
    users=2000, vocabulary=500, popular=300, public=False, runs=2, asked=50, memory=2**24, max_items=(1, 6),
    epsilons=(2, 6), hidden=(5, 40),
)  # fmt: skip


@pytest.fixture(scope="module")
def tiny():
    count = []
    logs = made_logs(TINY, 1, lambda: count.append(1))
    return logs, run_zealous(TINY, logs, 1, lambda: count.append(1)), len(count)


def test_every_step_is_told(tiny):
    assert tiny[2] == steps(TINY)


def test_a_histogram_is_by_item_and_what_is_listed_counts_for_one_at_least():
    domain = Domain("small", ItemLog.of([(f"u{i}", "a") for i in range(400)] + [("u0", "b")]))
    published = METHODS["zealous"](5, "0.001", 1, 400, None).publish(domain.log)
    assert domain.histogram(published)[1] == 0
    assert domain.histogram(published)[0] > 300
    assert domain.hidden_below(2).tolist() == [400, 0]
    assert domain.users == 400
    assert domain.tops == [2]


def test_k_query_anonymity_counts_what_is_left():
    search = SearchDomains(simulated_search_log(1000, 300, 200, seed=2), 2**24, 20)
    domains = search.domains()
    everything = search.anonymous(domains, 1)
    for name, counts in everything.items():
        assert np.array_equal(counts, domains[name].true)
    left = search.anonymous(domains, 30)
    assert left["queries"][left["queries"] > 0].min() >= 30
    assert all((left[name] <= domains[name].true).all() for name in left)
    assert "clicks" not in left


def test_the_original_is_right_about_itself(tiny):
    _, found, _ = tiny
    assert found.value("keywords", ORIGINAL, "difference") == 0
    assert found.value("query pairs", ORIGINAL, "NDCG, top 5") == 1
    assert found.value("query pairs", ORIGINAL, "coverage, top 2") == 1
    assert 0 < found.value("keywords", ORIGINAL, "hits") <= 1


def test_more_budget_finds_more(tiny):
    _, found, _ = tiny
    few, many = (found.value("keywords", PAPER, "published", max_items=1, epsilon=e) for e in TINY.epsilons)
    assert few < many
    assert found.value("queries", HIDDEN, "published", k=5) > found.value("queries", HIDDEN, "published", k=40)


def test_a_measure_that_no_run_has_is_none():
    found = Findings()
    found.add("log", "method", [{"x": math.nan}, {"x": math.nan}], k=3)
    assert found.rows[0]["value"] is None
    assert math.isnan(found.value("log", "method", "x", k=3))


def test_every_statement_is_answered(tiny):
    logs, found, _ = tiny
    told = statements(found, logs, TINY)
    assert len(told) == 22
    assert {here for _, here, _ in told} <= {"yes", "no"}
    by_words = {words: numbers for words, _, numbers in told}
    assert "m = 1" in by_words["the number of items falls as m grows (Table 6.3)"]


def test_the_whole_command(capsys, tmp_path, monkeypatch):
    public = packed(np.repeat(np.arange(300), 2), np.tile([3, 4], 300))
    monkeypatch.setattr(zealous_experiment, "kosarak_log", lambda: public)
    monkeypatch.setattr(zealous_experiment, "msnbc_log", lambda: public)
    tiny = Size(**{**{name: getattr(TINY, name) for name in TINY.__slots__}, "public": True, "runs": 1})
    monkeypatch.setattr(Size, "quick", lambda: tiny)
    assert main(["reproduce", "zealous", "--quick", "--out", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in ("Table 6.1", "1.26e-37 [1.3e-37]", "78.6 [78.6]", "Table 6.3 (A)", "[6,667]", "[56]", "Figure 6.4",
                  "Figure 6.6 (b)", "Figure 6.8", "Separation", "What the paper says"):  # fmt: skip
        assert words in said
    assert (tmp_path / "zealous_figure_6_5.html").is_file()
    assert (tmp_path / "zealous_statements.csv").is_file()


def test_for_programs(capsys, monkeypatch):
    monkeypatch.setattr(Size, "quick", lambda: TINY)
    assert main(["reproduce", "zealous", "--quick", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in document["rows"]} == {ORIGINAL, HIDDEN, *METHODS}
    assert {row["epsilon"] for row in document["rows"]} == {None, EPSILON, *TINY.epsilons}
    assert document["separation"]
    assert len(document["statements"]) == 22


def test_the_progress_ends_where_it_should(monkeypatch):
    monkeypatch.setattr(Size, "quick", lambda: TINY)
    told, count = [], []
    zealous_result(True, 1, told.append, lambda: count.append(1))
    assert told == [len(count)]
