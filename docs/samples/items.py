"""The items of a log that enough people share, published without a list of what there is."""

import hubbub as hb

words = ["weather", "news", "flu symptoms"]
log = {"user": [f"user {i}" for i in range(900)], "query": [words[i % 3] for i in range(899)] + ["ann's address"]}
published = hb.publish_items(log, item="query", epsilon=1, delta="1e-6")
print(published)  # with noisy counts, the most frequent first
print("\n".join(published.card))  # what is promised, and what is not
published.write("items.csv")
