"""A plan: how wrong the numbers will be, said before anything is spent."""

import hubbub as hb

plan = hb.plan(level=500, ticks=52, max_ticks=2, error=0.1, runs=1)
print(plan)  # every method under a range of budgets
print(plan.needed)  # the epsilon that buys an error of ten per cent
