"""A site: how many visits are on each page now, tick by tick."""

import hubbub as hb

monitor = hb.Monitor(keys=["front", "news", "sports"], unit="session", max_ticks=20, epsilon=1)
release = monitor.release({"front": 812, "news": 240, "sports": 97})
print(release)  # a small table: key, value, plus-minus
print(release["news"].interval)  # between which numbers the truth lies
print(monitor.guarantee)  # the promise, as a sentence
