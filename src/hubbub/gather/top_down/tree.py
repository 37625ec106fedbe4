"""What a hierarchy of contexts must be able to do; `hubbub.personal` has several kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class TreeNode(Protocol):
    """All contexts below a place in the tree; one that has none below it is a context itself."""

    @property
    def name(self) -> str: ...

    @property
    def depth(self) -> int: ...


class ContextTree(Protocol):
    """A public tree over contexts, such as `Categories`, `Decimals` and `Combined`."""

    @property
    def root(self) -> TreeNode: ...

    @property
    def digest(self) -> str: ...

    def children(self, node: Any) -> Sequence[TreeNode]: ...

    def is_context(self, node: Any) -> bool: ...

    def named(self, name: str) -> TreeNode: ...

    def path(self, context: Any) -> Sequence[TreeNode]: ...


def nodes_below(tree: ContextTree, node: TreeNode, depth: int) -> Iterator[TreeNode]:
    """Those at this depth, and the contexts that lie above it: together they hold everything below `node` once."""
    waiting = list(reversed(tree.children(node)))
    while waiting:
        one = waiting.pop()
        if one.depth >= depth or tree.is_context(one):
            yield one
        else:
            waiting.extend(reversed(tree.children(one)))
