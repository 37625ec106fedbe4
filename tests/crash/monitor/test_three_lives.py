"""A log whose cuts were made by two processes, read again by a third: none knows the others' names for files."""

import gzip
from itertools import pairwise

from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile


class Log:
    def __init__(self, folder):
        self.path, self.lines, self.rotated = folder / "access.log", 0, 0
        self.write()

    def write(self, count=3):
        with self.path.open("a") as log:
            for _ in range(count):
                log.write(f"line {self.lines}\n")
                self.lines += 1

    def pack(self):
        plain = self.path.with_name("access.log.1")
        self.path.with_name("access.log.1.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()

    def rotate(self, lines=3):
        for number in range(self.rotated, 0, -1):
            self.path.with_name(f"access.log.{number}").rename(self.path.with_name(f"access.log.{number + 1}"))
        self.path.rename(self.path.with_name("access.log.1"))
        self.rotated += 1
        self.write(lines)


def read(source, until):
    """What lies before `until`, and whether something was lost."""
    found, lost = [], False
    source.frontier()  # the clock asks all the time
    for _ in range(100):
        batch = source.poll(until)
        found += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return found, lost
    raise AssertionError("not reached")


def test_a_file_that_was_read_is_not_missed_under_another_name(tmp_path):
    """As it was: the third process took a file that it had done with for one that was gone, and told of a loss."""
    log = Log(tmp_path)
    with FollowedFile(log.path, Texts()) as first:
        first.open({})
        cuts = [first.frontier()]
        for _ in range(4):
            log.rotate()
            cuts.append(first.frontier())
            read(first, cuts[-1])
    with FollowedFile(log.path, Texts()) as second:
        assert second.open(cuts[0])
        for cut in cuts[1:]:
            assert not read(second, cut)[1]
        for _ in range(4):
            log.rotate()
            cuts.append(second.frontier())
            read(second, cuts[-1])
    for start in range(len(cuts)):
        with FollowedFile(log.path, Texts()) as third:
            assert third.open(cuts[start])
            lines = []
            for cut in cuts[start + 1 :]:
                found, lost = read(third, cut)
                lines += found
                assert not lost, f"from cut {start}"
            assert lines == [f"line {n}" for n in range(3 + 3 * start, log.lines)]


def test_nor_after_it_was_settled(tmp_path):
    log = Log(tmp_path)
    with FollowedFile(log.path, Texts()) as first:
        first.open({})
        cuts = [first.frontier()]
        for _ in range(4):
            log.rotate()
            cuts.append(first.frontier())
            read(first, cuts[-1])
    with FollowedFile(log.path, Texts()) as second:
        assert second.open(cuts[0])
        for cut in cuts[1:]:
            read(second, cut)
        log.rotate()
        cuts.append(second.frontier())
    with FollowedFile(log.path, Texts()) as third:
        assert third.open(cuts[0])
        for before, cut in pairwise(cuts):
            assert not read(third, cut)[1]
            third.settle(before)


def test_nor_a_packed_one_whose_length_was_not_known_at_the_cut(tmp_path):
    """As it was: a cut made before a packed file was read says "to its end"; whoever went on from there took the same
    file, of which a later cut says how long it is, for one that was gone."""
    log = Log(tmp_path)
    with FollowedFile(log.path, Texts()) as first:
        first.open({})
        cuts = [first.frontier()]
    log.rotate()
    log.rotate(lines=0)
    log.pack()
    with FollowedFile(log.path, Texts()) as second:
        assert second.open(cuts[0])
        cuts.append(second.frontier())  # and dies
    with FollowedFile(log.path, Texts()) as third:
        assert third.open(cuts[0])
        assert read(third, cuts[1]) == (["line 3", "line 4", "line 5"], False)
        log.write()
        cuts.append(third.frontier())
    with FollowedFile(log.path, Texts()) as fourth:
        assert fourth.open(cuts[1])
        assert read(fourth, cuts[2]) == (["line 6", "line 7", "line 8"], False)
