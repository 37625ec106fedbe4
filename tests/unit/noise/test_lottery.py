"""Tickets: the same for the same word and key, uniform over words, and nothing like the words."""

import numpy as np

from hubbub.noise import Lottery, simulation
from hubbub.noise.lottery import CHUNK

WORDS = np.arange(100_000, dtype=np.uint64)


def test_a_word_keeps_its_ticket_wherever_it_stands():
    lottery = Lottery()
    high, low = lottery.tickets(WORDS)
    again = lottery.tickets(WORDS[::-1].copy())
    assert np.array_equal(high, again[0][::-1])
    assert np.array_equal(low, again[1][::-1])
    assert len(np.unique(high)) == len(WORDS)


def test_more_words_than_fit_at_once():
    lottery = Lottery()
    words = np.arange(CHUNK + 5, dtype=np.uint64)
    assert np.array_equal(lottery.tickets(words)[0][-5:], lottery.tickets(words[-5:])[0])
    assert len(lottery.tickets(words[:0])[0]) == 0


def test_every_lottery_has_its_own_key():
    assert not np.any(Lottery().tickets(WORDS)[0] == Lottery().tickets(WORDS)[0])
    drawn = []
    for _ in range(2):
        with simulation(3) as source:
            drawn.append(Lottery(source).tickets(WORDS)[0])
    assert np.array_equal(*drawn)


def test_tickets_are_uniform():
    """Each of the 64 bits is one for half of the words, within 6 standard deviations (1e-7 for all of them)."""
    for half in Lottery().tickets(WORDS):
        ones = [int(np.sum(half >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
        assert np.all(np.abs(np.array(ones) - 50_000) < 6 * np.sqrt(25_000))
