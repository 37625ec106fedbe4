"""Hiding what fewer than ten people share does not hide it: an attacker invents nine who share a guess."""

import hubbub as hb
from hubbub.itemlogs import KQueryAnonymity

invented = [(f"invented {i}", "ann has gout") for i in range(9)]
for name, log in {"without Ann": invented, "with Ann": [*invented, ("ann", "ann has gout")]}.items():
    print(f"{name}, hidden below ten:", KQueryAnonymity(10).publish(log))
    table = {"user": [user for user, _ in log], "item": [item for _, item in log]}
    print(f"{name}, by Hubbub:", list(hb.publish_items(table, epsilon=1, delta="1e-6")))
