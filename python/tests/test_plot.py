# SPDX-License-Identifier: Apache-2.0
"""Pictures and reports: the same description as the command line, drawn by matplotlib."""

import json
import subprocess
import sys

import pytest

import tradeoff as to

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.mark.parametrize("kind", ["tradeoff", "profile", "gdpt"])
def test_draws_every_kind(kind: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    axes = to.plot([to.gaussian(1), "laplace(scale=1)", to.dp(1, "1e-5").curve()], kind, points=41)
    assert axes.get_xlabel() and axes.get_ylabel() and axes.get_title()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:3] == ["gaussian(sigma=1)", "laplace(scale=1)", "dp(epsilon=1, delta=1e-5)"]
    axes.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    matplotlib.pyplot.close(axes.figure)


def test_one_curve_shows_region_and_risk() -> None:
    axes = to.plot(to.gaussian(1), points=41)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "errors an attacker may reach" in labels and "at 1 % false positives at least 90.7 % are missed" in labels
    line = axes.get_lines()[0]
    at = dict(zip(line.get_xdata(), line.get_ydata()))
    assert at[0.0] == 1 and at[1.0] == 0
    matplotlib.pyplot.close(axes.figure)


def test_draws_into_axes_of_its_own_colour() -> None:
    figure = matplotlib.figure.Figure()
    axes = figure.add_subplot(facecolor="black")
    assert to.gdp(1).curve().plot("profile", axes=axes, points=21) is axes
    assert axes.get_lines()[0].get_color() == "#56b4e9"  # the light relative
    assert axes.get_yscale() == "log"


def test_wide_bands_are_shown() -> None:
    from tradeoff import _plot

    figure = matplotlib.figure.Figure()
    axes = figure.add_subplot()
    _plot._draw_series({"label": "", "shape": "steps", "stroke": "solid", "x": [0, 1, None], "lo": [0, 0, 0], "hi": [1, 1, 1]}, "red", 1.0, axes)
    assert len(axes.collections) == 1
    _plot._draw_series({"label": "a", "shape": "line", "stroke": "dashed", "x": [0, 1], "lo": [1, 1], "hi": [1, 1]}, "red", 1.0, axes)
    assert len(axes.collections) == 1


def test_refuses_by_name() -> None:
    with pytest.raises(to.DomainError, match="kind = 'pie'"):
        to.plot(to.gdp(1), "pie")
    with pytest.raises(to.DomainError, match="2 labels for 1 curves"):
        to.plot(to.gdp(1), labels=["a", "b"])
    with pytest.raises(to.DomainError, match="points"):
        to.plot(to.gdp(1), points=1)
    with pytest.raises(to.DomainError, match="0 curves"):
        to.plot([])


def test_report_is_that_of_the_command_line(command_line: str) -> None:
    for form in ("md", "html"):
        told = subprocess.run(
            [command_line, "report", "--format", form, "--unit", "one week", "--delta", "1e-6", "gdp(mu=1)", "--compare", "laplace(scale=1)"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert to.report("gdp(mu=1)", to.laplace(1), format=form, unit="one week", delta="1e-6") == told
    assert json.loads(to.report(to.gdp(1), format="json"))["statement"]["mu"]["verdict"] == "gdp"
    with pytest.raises(to.DomainError, match="format"):
        to.report("gdp(mu=1)", format="pdf")
    with pytest.raises(to.DomainError, match="delta"):
        to.report("gdp(mu=1)", delta=2)


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        to.gdp(1).curve().plot()
