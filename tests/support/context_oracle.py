"""An adversary who writes down every day and every output: brute force in exact fractions, sharing nothing with the
planners but what a policy says about itself."""

from fractions import Fraction
from itertools import product

HIDDEN = None


def joint(chain, policy):
    """{(path, output): probability} of all days and outputs that can happen."""
    start, moves = rows(chain)
    found = {}

    def walk(path, output, last_tick, last_context, chance):
        tick = len(path)
        if tick == chain.ticks:
            found[path, output] = chance
            return
        weights = start if not path else moves[tick - 1][path[-1]]
        for context, weight in enumerate(weights):
            if not weight:
                continue
            hide = policy.suppression(tick, context, last_tick, last_context)
            assert 0 <= hide <= 1
            if hide:
                walk((*path, context), (*output, HIDDEN), last_tick, last_context, chance * weight * hide)
            if hide < 1:
                walk((*path, context), (*output, context), tick, context, chance * weight * (1 - hide))

    walk((), (), -1, -1, Fraction(1))
    return found


def rows(chain):
    """The chain's probabilities from its weights, without the code that planners use."""

    def normal(row):
        numbers = [Fraction(float(weight)) for weight in row]
        total = sum(numbers)
        return [number / total if total else Fraction(0) for number in numbers]

    return normal(chain._start), [[normal(row) for row in table] for table in chain._moves]


def events(chain, secrets):
    """Each secret spelled out: (its number, which days it holds for)."""
    for place, secret in enumerate(secrets):
        members = [chain.contexts.index(name) for name in secret.contexts]
        groups = [set(members)] if secret.together else [{member} for member in members]
        first = 0 if secret.first is None else secret.first
        last = chain.ticks - 1 if secret.last is None else secret.last
        for group in groups:
            if secret.sometime:
                yield (
                    place,
                    lambda path, group=group, first=first, last=last: any(
                        path[t] in group for t in range(first, last + 1)
                    ),
                )
            else:
                for tick in range(first, last + 1):
                    yield place, lambda path, group=group, tick=tick: path[tick] in group


def rises(chain, policy, secrets):
    """For each secret the largest rise of belief over all outputs, as exact fractions."""
    both = joint(chain, policy)
    assert sum(both.values()) == 1
    outputs = {}
    for (_, output), chance in both.items():
        outputs[output] = outputs.get(output, 0) + chance
    worst = [Fraction(-1)] * len(secrets)
    for place, holds in events(chain, secrets):
        prior = Fraction(0)
        with_event = {}
        for (path, output), chance in both.items():
            if holds(path):
                prior += chance
                with_event[output] = with_event.get(output, 0) + chance
        most = max((chance / outputs[output] for output, chance in with_event.items()), default=Fraction(0))
        worst[place] = max(worst[place], most - prior)
    return worst


def shown(chain, policy):
    """How many contexts a day shows on average."""
    return sum(
        chance * sum(seen is not HIDDEN for seen in output) for (_, output), chance in joint(chain, policy).items()
    )


def all_outputs(size, ticks):
    return product([HIDDEN, *range(size)], repeat=ticks)
