"""Ranges: how many between two ticks, asked as often as you like."""

import hubbub as hb

ranges = hb.Ranges(["visits"], unit="event", epsilon=1, window=1000)
for count in range(200, 300):
    ranges.release({"visits": count})
print(ranges.total(20, 79))
