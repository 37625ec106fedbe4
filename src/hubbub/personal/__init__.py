"""Relevant results for who does not tell the context: hierarchies, cuts, choosing on both sides."""

from hubbub.personal.catalogue import Catalogue
from hubbub.personal.categories import Categories
from hubbub.personal.choice import Choice
from hubbub.personal.client import Client, ClientRefusal, Shown
from hubbub.personal.columns import LearnedTable, RateTable
from hubbub.personal.combined import Combined
from hubbub.personal.cut import Cut
from hubbub.personal.decimals import Decimals
from hubbub.personal.hierarchy import ContextHierarchy, hierarchy_from
from hubbub.personal.node import Node
from hubbub.personal.observer import Observer
from hubbub.personal.prior import Prior
from hubbub.personal.rates import ClickRates, Rate, Tally
from hubbub.personal.selector import Selector
from hubbub.personal.sensitive import Sensitive

__all__ = [
    "Catalogue",
    "Categories",
    "Choice",
    "ClickRates",
    "Client",
    "ClientRefusal",
    "Combined",
    "ContextHierarchy",
    "Cut",
    "Decimals",
    "LearnedTable",
    "Node",
    "Observer",
    "Prior",
    "Rate",
    "RateTable",
    "Selector",
    "Sensitive",
    "Shown",
    "Tally",
    "hierarchy_from",
]
