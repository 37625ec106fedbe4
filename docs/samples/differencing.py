"""Hiding what fewer than ten people share does not hide it: two lists tell what the one new visitor typed."""

import hubbub as hb
from hubbub.itemlogs import KQueryAnonymity

yesterday = [(f"user {i}", item) for i in range(500) for item in ("weather", "gout")]
today = [*yesterday, ("ann", "gout")]
before, after = (KQueryAnonymity(10).publish(log) for log in (yesterday, today))
print("Ann, hidden below ten:", [item for item in after if after[item] > before[item]])
for name, log in {"yesterday": yesterday, "today": today}.items():
    table = {"user": [user for user, _ in log], "item": [item for _, item in log]}
    print(f"gout {name}, by Hubbub:", hb.publish_items(table, epsilon=1, delta="1e-6")["gout"])
