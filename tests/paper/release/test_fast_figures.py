"""Fan 2014, section 3.3: where its text states the best value of a parameter, ours has it there too.

The paper's linear series is drawn at random and not given; its statements are about powers of ten and whole intervals,
so that no tolerance is needed. Two runs are enough: neighbouring points differ by many standard errors.
"""

from hubbub.lab.fast_parameters import parameter_points, run_points

POINTS = parameter_points()


def best(figure, line):
    points = [p for p in POINTS if p.figure == figure and p.line == line and p.value != 0]
    rows = run_points(points, 2)
    return min(rows, key=lambda row: row["relative_error"])["value"]


def test_figure_3_4_the_best_r_grows_with_the_square_of_length_and_noise():
    assert best("3.4a", "first tenth") == 1e4
    assert best("3.4a", "whole") == 1e6
    assert best("3.4b", "epsilon 0.1") == 1e8


def test_figure_3_8_the_best_fixed_interval_is_3_to_5():
    assert best("3.8", "kalman") in (3, 5)


def test_figure_3_5_more_than_a_thousand_particles_gain_nothing():
    chosen = [p for p in POINTS if p.figure == "3.5" and p.value in (10, 1000, 3000)]
    few, enough, many = (row["relative_error"] for row in run_points(chosen, 1))
    assert few > 1.05 * enough
    assert abs(many - enough) < 0.05 * enough
