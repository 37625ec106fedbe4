"""Numbers of a large map in as few bits as they deserve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hubbub.released.release import Release

MANY = 4096
"""Below so many keys a release is small anyway, and stays as it is."""

_MANTISSA, _LEAST, _SPARE = 52, 8, 4

Array = NDArray[np.float64]


def in_few_bits(release: Release) -> Release:
    """The same release, its numbers cut to what their errors leave meaningful; one of few keys is handed back as it is.

    Steps between neighbouring numbers are a sixteenth of the standard error or less, wherever it is smallest beside its
    value. Ends of intervals move outwards, errors and variances up: nothing is told more surely than before. It looks
    at released numbers alone, so it costs nothing. Packed, a map then takes a third of the bytes.
    """
    if len(release.keys) <= MANY:
        return release
    bits = _needed(release)
    variance = release.noise_variance
    return replace(
        release,
        values=_cut(release.values, bits, 0),
        standard_errors=_cut(release.standard_errors, _LEAST, 1),
        lower=_cut(release.lower, bits, -1),
        upper=_cut(release.upper, bits, 1),
        noise_variance=_cut(variance, _LEAST, 1) if isinstance(variance, np.ndarray) else variance,
    )


def _needed(release: Release) -> int:
    """How many bits after the first: the largest number of standard errors that a value is away from nothing."""
    sure = np.isfinite(release.standard_errors) & (release.standard_errors > 0)
    with np.errstate(over="ignore"):
        away = float(np.max(np.abs(release.values[sure]) / release.standard_errors[sure], initial=1.0))
    if not sure.all():  # what is known without an error stays as exact as it is
        return _MANTISSA
    return int(min(max(np.ceil(np.log2(away)) + _SPARE, _LEAST), _MANTISSA))


def _cut(numbers: Array, bits: int, towards: int) -> Array:
    """Each number with so many bits after its first: the nearest (0), none larger (-1), or none smaller (1)."""
    if bits >= _MANTISSA:
        return numbers
    left = np.uint64(_MANTISSA - bits)
    rest = (np.uint64(1) << left) - np.uint64(1)
    raw = np.ascontiguousarray(numbers, dtype=np.float64).view(np.uint64)
    if towards == 0:
        raw = raw + (np.uint64(1) << (left - np.uint64(1)))
    else:  # away from zero or towards it, by the sign
        outwards = (numbers < 0) if towards < 0 else (numbers > 0)
        raw = raw + np.where(outwards, rest, np.uint64(0))
    cut: Array = (raw & ~rest).view(np.float64)
    return cut
