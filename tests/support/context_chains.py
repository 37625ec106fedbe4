"""The chains of Goetz 2012, chapter 3 (its figures are drawn there; all its numbers hold for these), and made-up
small ones."""

from fractions import Fraction

import numpy as np

from hubbub.contexts import ContextChain, Secret


def layered(*layers):
    """A chain from its edges: `{"a": ["b", "c"]}` is a at one tick, b or c at the next, alike; "start" comes first."""
    names = sorted({name for layer in layers for ends in layer.values() for name in ends})
    tables = []
    for layer in layers:
        table = {}
        for begin, ends in layer.items():
            weights = ends if isinstance(ends, dict) else {end: Fraction(1, len(ends)) for end in ends}
            table[begin] = [weights.get(name, 0) for name in names]
        tables.append(table)
    empty = [0] * len(names)
    return ContextChain(names, tables[0]["start"], [[table.get(name, empty) for name in names] for table in tables[1:]])


EXAMPLE_1 = layered(
    {"start": ["phone call", "meeting"]}, {"phone call": ["coffee break"], "meeting": ["meeting", "desk"]}
)
EXAMPLE_2 = layered({"start": ["s", "x"]})
EXAMPLE_3 = layered({"start": ["y1", "y2"]}, {"y1": ["s1", "z1"], "y2": ["s2", "z2"]})
EXAMPLE_4 = layered({"start": ["s1", "s2", "x1", "x2"]})
EXAMPLE_5 = layered(
    {"start": ["w1", "w2", "w3", "w4", "w5", "w6"]},
    {"w1": ["x1"], "w2": ["x1"], "w3": ["x2"], "w4": ["x2"], "w5": ["x3"], "w6": ["x3"]},
    {"x1": ["s1", "y1"], "x2": ["y2"], "x3": ["s2", "y3"]},
    {"s1": ["z1"], "y1": ["z2"], "y2": ["z1", "z2"], "s2": ["z2"], "y3": ["z1"]},
)


def random_chain(random):
    """Two or three contexts, up to four ticks, with zeros or without."""
    size = random.randint(2, 3)
    ticks = random.randint(1, 4 if size == 2 else 3)
    weights = [0, 0, 1, 1, 2, 3, 7] if random.random() < 0.6 else [1, 2, 3, 4, 5, 6]

    def row():
        while True:
            numbers = [random.choice(weights) for _ in range(size)]
            if sum(numbers):
                return numbers

    moves = np.array([[row() for _ in range(size)] for _ in range(ticks - 1)], dtype=float).reshape(-1, size, size)
    return ContextChain.of_weights("abc"[:size], np.array(row(), dtype=float), moves)


def random_secrets(random, chain):
    """One or two secrets of all kinds."""
    found = []
    for _ in range(random.choice([1, 1, 2])):
        options = {}
        if random.random() < 0.4:
            first = random.randrange(chain.ticks)
            options.update(first=first, last=random.randrange(first, chain.ticks))
        kind = random.random()
        if kind < 0.5:
            options["together" if kind < 0.25 else "sometime"] = True
        if random.random() < 0.3:
            options["delta"] = random.choice(["1/5", "1/3", "1/20"])
        found.append(Secret(*random.sample(chain.contexts, random.randint(1, chain.size - 1)), **options))
    return found


def random_delta(random):
    return random.choice([Fraction(1, 20), Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)])
