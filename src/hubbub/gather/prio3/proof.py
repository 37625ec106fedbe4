"""Proofs that a shared vector is valid, checked without putting the shares together.

The prover lays one polynomial through the values of each wire of the gadget (and through a random first value, which
hides them), and tells the polynomial that comes out when the gadget is applied to these. The verifiers evaluate all of
them at a random point: shares of wires, a share of the gadget's polynomial. Added up, the gadget must turn the former
into the latter. (draft-irtf-cfrg-vdaf, section 7.3; Boneh et al. 2019, section 4.2.)

Polynomials are given by their values at roots of unity: wires at the p-th ones, gadget polynomials, of degree
2 (p - 1), at all but the last of the 2p-th ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.gather.prio3.circuit import Circuit
from hubbub.gather.prio3.field import Elements


class Proof:
    """The proof system for one circuit. Arrays have the axes limbs, reports, then their own."""

    def __init__(self, circuit: Circuit[Any, Any]) -> None:
        self.circuit = circuit
        self.field = circuit.field
        self.points = 1 << circuit.calls.bit_length()  # the first power of two above the number of calls
        self.length = circuit.arity + 2 * self.points - 1
        self.prove_length = circuit.arity
        self.query_length = 1 + (circuit.checks if circuit.checks > 1 else 0)
        self.verifier_length = circuit.arity + 2

    def prove(self, encoded: Elements, prove: Elements, joint: Elements) -> Elements:
        circuit, field = self.circuit, self.field
        rows = field.zeros(encoded.shape[1], circuit.arity, self.points)
        rows[..., 0] = prove
        rows[..., 1 : circuit.calls + 1] = circuit.wires(encoded, joint, 1)
        values = np.stack([circuit.gadget(rows), circuit.gadget(field.between(rows))], axis=-1)
        values = values.reshape(*values.shape[:2], 2 * self.points)
        return np.concatenate([prove, values[..., :-1]], axis=-1)

    def query(
        self, encoded: Elements, proof: Elements, query: Elements, joint: Elements, shares: int
    ) -> tuple[Elements, NDArray[np.bool_]]:
        """Each report's share of what is looked at, and for which reports the random point must not be used."""
        circuit, field = self.circuit, self.field
        seeds, polynomial = proof[..., : circuit.arity], proof[..., circuit.arity :]
        calls = circuit.calls
        result = circuit.results(encoded, polynomial[..., 2 : 2 * calls + 1 : 2], shares)
        value = field.dot(query[..., :-1], result)[..., None] if circuit.checks > 1 else result
        point = query[..., -1]
        # At one of the points through which the wires were laid, their values would be told.
        unlucky: NDArray[np.bool_] = np.any(field.equal(point[..., None], field.roots(self.points)), axis=-1)
        at_wires, at_gadget = self._weights(point)
        rows = np.concatenate([seeds[..., None], circuit.wires(encoded, joint, shares)], axis=-1)
        wires = field.dot(rows, at_wires[..., None, : calls + 1])
        gadget = field.dot(polynomial, at_gadget)[..., None]
        return np.concatenate([value, wires, gadget], axis=-1), unlucky

    def decide(self, verifier: Elements) -> NDArray[np.bool_]:
        """Which reports are valid, from what their shares add up to."""
        wires, told = verifier[..., 1:-1], verifier[..., -1]
        found = self.circuit.gadget(wires[..., None])[..., 0]
        answer: NDArray[np.bool_] = self.field.is_zero(verifier[..., 0]) & self.field.equal(found, told)
        return answer

    def _weights(self, point: Elements) -> tuple[Elements, Elements]:
        """How values at the points add up to the value at `point`: for wires, and for the gadget's polynomial.

        Let w be the root of order 2p. Of its powers the even ones are the points of the wires and the odd ones lie
        halfway, so both kinds of weights follow from those of the wires at t and at t/w: l_2k(t) = l_k(t) (1 + t^p)/2
        and l_2k+1(t) = l_k(t/w) (1 - t^p)/2. The last value is not in the proof: since the degree is below 2p - 1, the
        sum of v_i w^i over all points is zero, so v_(2p-1) is minus the sum of v_i w^(i+1) over the others.
        """
        field, points = self.field, self.points
        back = field.constant(pow(field.root(2 * points), -1, field.modulus))
        both = field.lagrange(np.stack([point, field.mul(point, back)], axis=-1), points)
        power = point
        for _ in range(points.bit_length() - 1):
            power = field.mul(power, power)
        half = pow(2, -1, field.modulus)
        scaled = field.mul(power, field.constant(half))
        sides = np.stack([field.add(scaled, field.constant(half)), field.sub(field.constant(half), scaled)], axis=-1)
        woven = np.moveaxis(field.mul(both, sides[..., None]), -2, -1)
        woven = woven.reshape(*woven.shape[:-2], 2 * points)
        last = field.mul(woven[..., -1:], field.roots(2 * points)[..., 1:])
        return both[..., 0, :], field.sub(woven[..., :-1], last)
