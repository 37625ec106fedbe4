"""The experiment about results for who does not tell the context: what it counts, and that more results help."""

from hubbub.lab import ads
from hubbub.lab.local_search import LEVELS, hierarchy, searches
from hubbub.personal import ClickRates, LearnedTable

TREE = hierarchy()


def test_the_levels_are_the_papers():
    """(location, interest, query): how many levels above the finest each attribute is, at each named depth."""
    context = {"location": (61.22913, -149.912044), "interest": "category 3", "query": "category 3: query 7"}
    path = TREE.path(context)
    for name, depth in LEVELS.items():
        location, interest, query = path[depth].parts
        assert name == f"({6 - location.depth},{2 - interest.depth},{3 - query.depth})"
    assert len(path) == LEVELS["(0,0,0)"] + 1


def test_more_results_are_more_precise_than_one_that_is_shown_to_all():
    log = searches(3, 250, 8)
    cut = len(log) * 9 // 10
    rates = ClickRates.fit_picks(TREE, [(s.context, s.picked) for s in log[:cut]], min_support=2)
    asked = [(ads.LEVEL, 0.0, k) for k in (1, 5, 50)]
    found = ads.scores(LearnedTable(rates), TREE, log[cut:], (ads.LEVEL, LEVELS[ads.LEVEL]), asked)
    rows = {key: score.row() for key, score in found.items()}
    one, five = rows[ads.SERVER_ONLY, 0.0, 1], rows[ads.LEVEL, 0.0, 5]
    assert five["precision"] > one["precision"] > 0
    assert rows[ads.LEVEL, 0.0, 50]["coverage"] >= five["coverage"] >= rows[ads.LEVEL, 0.0, 1]["coverage"]


def test_a_log_is_the_same_for_a_seed():
    assert searches(1, 20, 3) == searches(1, 20, 3) != searches(2, 20, 3)


def test_rows_tables_and_words_go_together(monkeypatch, tmp_path):
    monkeypatch.setattr(ads, "searches", lambda seed, *_: searches(seed, 40, 5))
    monkeypatch.setattr(ads, "_bandit", list)
    steps = []
    result = ads.ads_result(True, 1, steps.append, lambda: steps.append(1))
    assert sum(steps[1:]) == steps[0]
    assert "is not there" in result.words
    assert {row["level"] for row in result.rows} == {*LEVELS, ads.SERVER_ONLY, "query only"}
    assert result.more["queries"][0]["different"] >= result.more["queries"][1]["different"]
    assert {path.suffix for path in result.write(tmp_path, "ads")} == {".csv", ".html"}


def test_without_the_data_set_it_says_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path))
    assert ads._bandit() == []
    assert ads.Score().row()["coverage"] == 0
