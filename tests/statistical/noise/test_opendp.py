"""The same distributions as OpenDP's exact samplers?

Error rate: 1e-10 a check, two checks for each of eight pairs of samples: far below 1e-8 together. 5 % of the scale is
0.05 sqrt(100,000) = 15 standard errors of the mean of |x| (Laplace; more for Gaussian), of which 6.5 are needed to
reject: a control passes by chance with a probability below 1e-15.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hubbub.noise import DiscreteGaussian, DiscreteLaplace

opendp = pytest.importorskip("opendp.prelude", reason="OpenDP is the oracle of this test; install the extra `dev`")

ALPHA = 1e-10
CRITICAL = stats.norm.isf(ALPHA / 2)
THEIRS, OURS = 100_000, 2_000_000


def agree(ours, theirs, noise, power):
    edges = sorted({noise.quantile(share) for share in np.linspace(0, 1, 21)[1:-1]})
    counts = np.stack([np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (ours, theirs)])
    if stats.chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue <= ALPHA:
        return False
    sizes = [np.abs(x.astype(float)) ** power for x in (ours, theirs)]
    error = math.sqrt(sum(np.var(size) / len(size) for size in sizes))
    return abs(sizes[0].mean() - sizes[1].mean()) <= CRITICAL * error


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0, 1e6])
def test_two_samples_agree_and_a_scale_off_by_five_percent_does_not(kind, scale):
    opendp.enable_features("contrib")
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    if kind == "laplace":
        measure, power = opendp.m.make_laplace(domain, opendp.l1_distance(T=int), scale=scale), 1
        make = DiscreteLaplace
    else:
        measure, power = opendp.m.make_gaussian(domain, opendp.l2_distance(T=float), scale=scale), 2

        def make(sigma):
            return DiscreteGaussian(Fraction(sigma) ** 2)

    theirs = np.array(measure([0] * THEIRS))
    noise = make(scale)
    assert agree(noise.sample(OURS), theirs, noise, power)
    for factor in (0.95, 1.05):
        assert not agree(make(scale * factor).sample(OURS), theirs, noise, power)
