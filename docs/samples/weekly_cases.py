"""Weekly cases: a whole file at once, each person counted in two weeks at most."""

import hubbub as hb

series = hb.release_series("cases.csv", epsilon=1, max_ticks=2)
print(series)  # the last weeks, with their errors
print(series.bound)  # what whoever counted must have enforced
series.write("released.csv")
