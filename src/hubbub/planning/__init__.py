"""What accuracy a budget will buy, told before anything is released."""

from hubbub.planning.budgets import EPSILONS, RHOS, usual_budgets
from hubbub.planning.expectations import USUAL, Expectation, budget_for, error_of_zeros, expectations
from hubbub.planning.plan import Plan, plan
from hubbub.planning.simulated import simulated_series

__all__ = [
    "EPSILONS",
    "RHOS",
    "USUAL",
    "Expectation",
    "Plan",
    "budget_for",
    "error_of_zeros",
    "expectations",
    "plan",
    "simulated_series",
    "usual_budgets",
]
