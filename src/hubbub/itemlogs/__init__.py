"""Frequent items of a log, published with a guarantee: ZEALOUS, and weights that do better."""

from hubbub.itemlogs.adaptive import Adaptive
from hubbub.itemlogs.anonymity import KQueryAnonymity
from hubbub.itemlogs.claim import Claim
from hubbub.itemlogs.item_lists import ItemLists, TickLog
from hubbub.itemlogs.item_plan import ItemExpectation, ItemPlan
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.method import ItemMethod
from hubbub.itemlogs.planning import plan_items
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.published_files import read_published
from hubbub.itemlogs.publishing import publish_items
from hubbub.itemlogs.reading import read_items
from hubbub.itemlogs.weighted import Weighted
from hubbub.itemlogs.zealous import Zealous

__all__ = [
    "Adaptive",
    "Claim",
    "ItemExpectation",
    "ItemLists",
    "ItemLog",
    "ItemMethod",
    "ItemPlan",
    "KQueryAnonymity",
    "Published",
    "TickLog",
    "Weighted",
    "Zealous",
    "plan_items",
    "publish_items",
    "read_items",
    "read_published",
]
