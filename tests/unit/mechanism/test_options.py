"""Options are declared once; what is given is checked, read and written by that one declaration."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import HubbubError, InvalidParameter
from hubbub.filters.habits import Habits
from hubbub.mechanism import Option, options_of, read_options
from hubbub.mechanism.kinds import ExactNumber, Number, Numbers, PerKey, Record, Truth, Whole, Word
from hubbub.methods import METHODS, described, make_mechanism
from hubbub.models import NavigationModel
from hubbub.privacy import Event, Guarantee, User
from hubbub.ranges import Fenwick, RangeStream
from hubbub.release import Fast, Lpa, Navigation, Pegasus, PidSettings, Sample
from hubbub.released import Keys

KEYS = Keys(["front", "news"])
USER = Guarantee.pure(User(horizon=100), 1)


def test_a_misspelt_option_is_a_typed_error_with_a_guess():
    with pytest.raises(InvalidParameter, match=r"'fast' has no option 'sampels'\. Did you mean `samples`\?"):
        make_mechanism("fast", KEYS, USER, sampels=50)
    with pytest.raises(HubbubError, match="It has: samples"):
        Sample(KEYS, USER, zebra=1)
    with pytest.raises(HubbubError, match="It has none"):
        Lpa(KEYS, USER, zebra=1)


def test_an_option_without_a_default_must_be_given():
    with pytest.raises(InvalidParameter, match="`ranges` needs the option `window`"):
        make_mechanism("ranges", KEYS, USER)


def test_a_misspelt_method_too():
    with pytest.raises(InvalidParameter, match=r"no method 'adaptiv'\. Did you mean `adaptive`\? Known methods: .*lpa"):
        make_mechanism("adaptiv", KEYS, USER)


def test_a_method_that_needs_the_whole_series_is_not_online():
    with pytest.raises(InvalidParameter, match="`dft` needs the whole series at once"):
        make_mechanism("dft", KEYS, USER)


@pytest.mark.parametrize(
    ("kind", "text", "value", "plain"),
    [
        (Whole(), "50", 50, 50),
        (Whole(0), "0", 0, 0),
        (Number(above=0.0), "1e5", 1e5, 1e5),
        (Number(least=0.0, most=10.0), "10", 10.0, 10.0),
        (ExactNumber(), "1/3", Fraction(1, 3), "1/3"),
        (Truth(), "false", False, False),
        (Word("fixed", "pid"), "pid", "pid", "pid"),
        (Numbers(), "7, 365.25", (7.0, 365.25), [7.0, 365.25]),
        (PerKey(), "100", 100.0, 100.0),
        (Record(PidSettings), '{"window": 3}', PidSettings(window=3), None),
    ],
)
def test_values_are_read_from_text(kind, text, value, plain):
    assert kind.read(text, "x") == value
    if plain is not None:
        assert kind.plain(kind.read(text, "x")) == plain


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Whole(), "many"), (Whole(), "0"), (Whole(), "2.5"), (Whole(0), "-1"), (Whole(0), "x"),
        (Number(above=0.0), "0"), (Number(above=0.0), "inf"), (Number(above=0.0), "x"), (Number(least=0.0), "-1"),
        (Number(least=0.0, most=10.0), "11"), (ExactNumber(), "0"), (ExactNumber(), "x"), (Truth(), "yes"),
        (Word("fixed", "pid"), "magic"), (Numbers(), "7,x"), (Numbers(), 7), (Numbers(), "0"), (PerKey(), "x"),
        (PerKey(), "-1"), (PerKey(), [[1.0]]), (PerKey(), {}), (Record(PidSettings), "{"), (Record(PidSettings), "[]"),
        (Record(PidSettings), '{"gain": 1}'),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused_by_name(kind, wrong):
    with pytest.raises(InvalidParameter, match="`thing`"):
        kind.read(wrong, "thing")


def test_records_are_of_their_own_kind():
    with pytest.raises(InvalidParameter, match="`control`"):
        Fast(KEYS, USER, control={"window": 3})
    with pytest.raises(InvalidParameter, match="`model`"):
        Navigation(KEYS, USER, model="site.npz")
    with pytest.raises(InvalidParameter, match="`strategy`"):
        RangeStream(KEYS, USER, window=8, strategy="tree")


def test_an_option_reads_as_its_value():
    fast = Fast(KEYS, USER, **read_options(Fast, ["samples=50", "filter=particle", "particles=10"]))
    assert (fast.samples, fast.filter, fast.particles) == (50, "particle", 10)
    assert isinstance(Fast.samples, Option)
    assert read_options(Fast, {"samples": 50}) == {"samples": 50}
    assert read_options(Sample, {"samples": None}) == {"samples": None}


@pytest.mark.parametrize("text", ["samples", "=5", ""])
def test_options_are_written_with_an_equals_sign(text):
    with pytest.raises(InvalidParameter, match="name=value"):
        read_options(Fast, [text])
    with pytest.raises(InvalidParameter, match="no option 'sample'"):
        read_options(Fast, ["sample=5"])


def test_the_canonical_form_has_every_default_filled_in():
    assert Sample(KEYS, USER).options == Sample(KEYS, USER, samples=10).options == {"samples": 10}
    assert Fast(KEYS, USER).options["samples"] == 15
    assert Fast(KEYS, USER, filter="particle").options["samples"] == 25
    assert Pegasus(KEYS, USER, threshold="0.5").options["threshold"] == "1/2"
    habits = Navigation(KEYS, USER).options["habits"]
    assert habits == Navigation(KEYS, USER, habits=Habits(**habits)).options["habits"]
    told = RangeStream(KEYS, USER, window=64, strategy=Fenwick(3)).options
    assert (told["window"], told["method"], told["strategy"]["height"]) == (64, "auto", 3)
    again = RangeStream(KEYS, USER, **read_options(RangeStream, {"window": 64, "strategy": told["strategy"]}))
    assert again.options == told
    with pytest.raises(InvalidParameter, match="`strategy`"):
        read_options(RangeStream, ['strategy={"kind": "bush"}'])


def test_a_model_is_told_by_the_hash_of_what_it_says(tmp_path):
    site = NavigationModel.of(KEYS, [[0.5, 0.1], [0.3, 0.6]], [200.0, 40.0])
    other = NavigationModel.of(KEYS, [[0.5, 0.1], [0.3, 0.6]], [200.0, 41.0])
    site.save(tmp_path / "site.npz")
    loaded = Navigation(KEYS, USER, **read_options(Navigation, [f"model={tmp_path / 'site.npz'}"]))
    assert loaded.options["model"] == Navigation(KEYS, USER, model=site).options["model"]
    assert loaded.options["model"].startswith("sha256 ")
    assert Navigation(KEYS, USER, model=other).options["model"] != loaded.options["model"]
    assert read_options(Navigation, {"model": site}) == {"model": site}


@pytest.mark.parametrize("name", METHODS)
def test_every_option_says_what_it_is(name):
    for told in described(METHODS[name]):
        assert told["help"].endswith((".", ")"))
        assert told["values"]
    for option in options_of(METHODS[name]).values():
        if not option.is_required:
            option.accept(option.default)  # a default that its own kind refuses would be a trap


def test_one_variance_per_key():
    made = make_mechanism("ukf", KEYS, Guarantee.pure(Event(), 1), process_variance=np.array([1.0, 2.0]))
    assert made.options == {"process_variance": [1.0, 2.0]}


@pytest.mark.parametrize("value", [10**400, 1e101, 10**30])
@pytest.mark.parametrize(
    ("method", "option", "largest", "guarantee"),
    [
        ("ukf", "process_variance", "1e+100", USER),
        ("fast", "process_variance", "1e+100", USER),
        ("navigation", "scale_error", "10", USER),
        ("pegasus", "longest", "10,000", USER),
        ("fast", "particles", "1,000,000", USER),
        ("fast", "seed", "9,223,372,036,854,775,807", USER),
        ("ranges", "window", "9,223,372,036,854,775,807", USER),
    ],
)
def test_what_is_too_large_to_be_used_is_refused_by_name(method, option, largest, guarantee, value):
    if largest == "1e+100" and value == 10**30:
        return
    whole = isinstance(value, int) or "," not in largest
    with pytest.raises(InvalidParameter, match=f"`{option}`") as refused:
        make_mechanism(method, KEYS, guarantee, **{option: value})
    assert len(str(refused.value)) < 300
    if whole:
        assert f"it can be {largest} at most" in str(refused.value)
