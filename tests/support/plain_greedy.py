"""Greedy written plainly (Goetz 2012, Alg. 6), and the best of all choices by trying them."""

from itertools import combinations

import numpy as np


def value(worth, rows):
    return float(np.add.reduce(worth[list(rows)].max(axis=0))) if rows else 0.0


def plain_greedy(worth, k, cost=0.0, banned=()):
    """Every gain again at every step."""
    best, chosen = np.zeros(worth.shape[1]), []
    while len(chosen) < min(k, len(worth)):
        gains = np.maximum(worth - best, 0).sum(axis=1)
        gains[[*chosen, *banned]] = 0
        place = int(gains.argmax())
        if gains[place] <= cost or gains[place] <= 0:
            break
        chosen.append(place)
        best = np.maximum(best, worth[place])
    return chosen


def best_of_all(worth, k, cost=0.0):
    """The value of the best at most k rows, less their cost."""
    return max(
        value(worth, rows) - cost * size for size in range(k + 1) for rows in combinations(range(len(worth)), size)
    )
