"""What `hubbub reproduce zealous` publishes from: keywords, queries, clicks and query pairs of a simulated search log,
and two public logs; and how good a published histogram is for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.itemlogs import ItemLog, Published
from hubbub.itemlogs.quality import Counts, coverage, difference, distance, divergence, top
from hubbub.lab.index_cache import cached, hit_probability
from hubbub.lab.search_log import NONE, SearchLog, once_each
from hubbub.lab.substitution import Suggestion, compared, phrase_pairs, suggestions

TOPS = (10, 30, 100, 300, 1000, 3000)
"""The j of top-j."""

RANKED = (2, 5)
"""The j of suggestions."""

Measures = dict[str, float]


class Domain:
    """One kind of item of one log, with its true counts."""

    def __init__(self, name: str, log: ItemLog, extra: Callable[[Counts], Measures] | None = None) -> None:
        self.name = name
        self.log = log
        users = log.users.reveal()
        self.users = int(np.count_nonzero(np.bincount(users)))
        self.per_user = len(users) / self.users
        self.true: Counts = np.bincount(log.items.reveal(), minlength=len(log.labels.reveal())).astype(np.int64)
        self._places = {label: place for place, label in enumerate(log.labels.reveal())}
        self._extra = extra

    def histogram(self, published: Published) -> Counts:
        """The published count of every item; what is in the list counts for 1 at least, all else for 0."""
        assert published.counts is not None
        return self._at(published.items, np.maximum(published.counts, 1))

    def hidden_below(self, k: int) -> Counts:
        """k-anonymity for a log without queries: exact counts from k on."""
        return np.where(self.true >= k, self.true, 0)

    def counted(self, users: Counts, items: Counts) -> Counts:
        """The histogram of rows that are left of this log, each user once for an item."""
        names, counts = np.unique(once_each(users, items), return_counts=True)
        return self._at((str(name) for name in names), counts)

    def measures(self, found: Counts) -> Measures:
        """All numbers of the paper's tables and figures for one histogram."""
        told: Measures = {
            "published": float(np.count_nonzero(found)),
            "total": float(found.sum()),
            "difference": difference(self.true, found),
        }
        for j in self.tops:
            told[f"missing, top {j}"] = 1 - coverage(self.true, found, j)
            told[f"L1, top {j}"] = distance(self.true, found, j)
            told[f"KL, top {j}"] = divergence(self.true, found, j)
        return told if self._extra is None else {**told, **self._extra(found)}

    @property
    def tops(self) -> list[int]:
        """Each j that the log has items for."""
        return [j for j in TOPS if j <= np.count_nonzero(self.true)] or [int(np.count_nonzero(self.true))]

    def _at(self, names: Iterable[str], counts: Any) -> Counts:
        found = np.zeros(len(self.true), dtype=np.int64)
        found[[self._places[name] for name in names]] = counts
        return found


@dataclass(frozen=True, eq=False)
class SearchDomains:
    """The four kinds of items of a search log, with what is done with keywords and with query pairs.

    `asked` is for how many of the most frequent queries substitutions are looked for.
    """

    log: SearchLog
    memory: int
    asked: int

    def domains(self) -> dict[str, Domain]:
        extras = {"keywords": self._caching(), "query pairs": self._substitution()}
        return {name: Domain(name, log, extras.get(name)) for name, log in self.log.item_logs().items()}

    def anonymous(self, domains: dict[str, Domain], k: int) -> dict[str, Counts]:
        """The histograms of the k-query anonymous log; it has no clicks."""
        left = self.log.anonymous(k)
        rows = {"keywords": left.keyword_rows, "queries": (left.users, left.queries), "query pairs": left.pair_rows}
        return {name: domains[name].counted(*both) for name, both in rows.items()}

    def _caching(self) -> Callable[[Counts], Measures]:
        words, workload = np.unique(self.log.keyword_rows[1], return_counts=True)
        documents = self.log.documents[words]
        return lambda found: {"hits": hit_probability(cached(found, documents, self.memory), workload)}

    def _substitution(self) -> Callable[[Counts], Measures]:
        codes = np.unique(self.log.pair_rows[1])
        words, many = self.log.words, len(self.log.words)
        first, second = words[codes // many], words[codes % many]
        typed = np.bincount(self.log.queries, minlength=many)
        asked = [[word for word in words[query].tolist() if word != NONE] for query in top(typed, self.asked)]

        def ranked(counts: Counts, j: int) -> list[list[Suggestion]]:
            there = counts > 0
            pairs = phrase_pairs(first[there], second[there], counts[there])
            return [suggestions(query, pairs, j) for query in asked]

        users, items = self.log.pair_rows
        true = once_each(users, np.searchsorted(codes, items))
        truth = {j: ranked(np.bincount(true, minlength=len(codes)), j) for j in RANKED}

        def measure(found: Counts) -> Measures:
            return {
                f"{name}, top {j}": value
                for j in RANKED
                for name, value in compared(truth[j], ranked(found, j)).items()
            }

        return measure
