"""Words that a page, a command or a document must not use about people, and where they would be false."""

FORBIDDEN = (
    "nobody can tell",
    "no one can tell",
    "nothing about you",
    "whether you were here",
    "never visited",
    "had you not visited",
    "here at all",
    "everything the site ever published",
    "with a chance of 1e",
    "except with",
    "un-blurred",
    "completely anonymous",
)
"""False for some unit or strength, and so nowhere."""

MILD = ("hardly changes", "almost the same", "nearly the same", "nearly as well")
"""True of a strong promise only: epsilon up to 0.1."""
