"""Detection: on which days far more were counted than before. It reads released numbers only."""

import hubbub as hb

cases = [20] * 60 + [90] * 5
released = hb.release_series({"flu": cases}, epsilon=1, unit="event")
for alert in hb.detect(released):
    print(alert)
