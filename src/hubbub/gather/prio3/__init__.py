"""Prio3, written from draft-irtf-cfrg-vdaf: sums of shared vectors, each with a proof that it is valid."""

from hubbub.gather.prio3.chunks import best_chunk_length
from hubbub.gather.prio3.circuit import Circuit
from hubbub.gather.prio3.count import Count
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field64 import Field64
from hubbub.gather.prio3.field128 import Field128
from hubbub.gather.prio3.histogram import Histogram
from hubbub.gather.prio3.l1_bound_sum import L1BoundSum
from hubbub.gather.prio3.multihot import MultihotCountVec
from hubbub.gather.prio3.prio3 import NONCE_SIZE, VERIFY_KEY_SIZE, Prio3, ReportShare, VerifyState
from hubbub.gather.prio3.sum import Sum
from hubbub.gather.prio3.sum_vec import SumVec
from hubbub.gather.prio3.variants import (
    Prio3Count,
    Prio3Histogram,
    Prio3L1BoundSum,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
)
from hubbub.gather.prio3.xof import XofTurboShake128

__all__ = [
    "NONCE_SIZE",
    "VERIFY_KEY_SIZE",
    "Circuit",
    "Count",
    "Elements",
    "Field",
    "Field64",
    "Field128",
    "Histogram",
    "L1BoundSum",
    "MultihotCountVec",
    "Prio3",
    "Prio3Count",
    "Prio3Histogram",
    "Prio3L1BoundSum",
    "Prio3MultihotCountVec",
    "Prio3Sum",
    "Prio3SumVec",
    "ReportShare",
    "Sum",
    "SumVec",
    "VerifyState",
    "XofTurboShake128",
    "best_chunk_length",
]
