# SPDX-License-Identifier: Apache-2.0
"""Keys of a table of users, released with a certificate."""

import json
import math

import pytest

import tradeoff as to

PLAN = "threshold(noise=discrete_laplace, scale=5, above=?, partitions=3)"
TARGET = {"epsilon": 1, "delta": 1e-6}
ROWS = [(f"user{u}", key) for u in range(300) for key in ("rome", "berlin", f"home{u}")]


def test_keys_come_with_counts_and_a_certificate():
    released = to.release_keys(PLAN, ROWS, **TARGET)
    assert [one.key for one in released.keys] == ["berlin", "rome"]
    assert all(isinstance(one.noisy_count, int) and abs(one.noisy_count - 300) < 300 for one in released.keys)
    assert released.text == "".join(f"{one.key},{one.noisy_count}\n" for one in released.keys)
    assert to.verify(released.certificate.document, released.text).verdict == "confirmed"
    assert to.verify(released.certificate.document, released.text + "oslo,400\n").verdict == "refuted"
    assert not released.certificate.is_valid
    assert released.certificate.drawn_plan.curve(neighbours="add-remove").epsilon(delta=1e-6).hi <= 1


def test_a_selection_releases_keys_alone():
    released = to.release_keys("partition_selection(epsilon=1, delta=1e-5, partitions=3)", ROWS)
    assert [(one.key, one.noisy_count) for one in released.keys] == [("berlin", None), ("rome", None)]


def test_contributions_are_bounded():
    """One user floods a key with rows; they count as the plan says."""
    flood = [("eve", "rare", 10**6)] * 3 + [("eve", f"other{i}", 10**6) for i in range(50)]
    plan = "threshold(noise=discrete_laplace, scale=1, above=40, partitions=2, contribution=1)"
    assert to.release_keys(plan, flood).keys == []
    kept = to.release_keys("partition_selection(keep=[1], partitions=2)", flood).keys
    assert len(kept) == 2


def test_how_often_a_new_key_is_shown():
    """A key of one user: the chance is the tail of the noise."""
    plan, above, scale = "threshold(noise=discrete_laplace, scale=2, above=4)", 4, 2
    runs = 400
    shown = sum(bool(to.release_keys(plan, [("ann", "rome")]).keys) for _ in range(runs))
    ratio = math.exp(-1 / scale)
    chance = ratio ** (above - 1) / (1 + ratio)
    assert abs(shown - runs * chance) < 6 * math.sqrt(runs * chance * (1 - chance))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rows"),
        ([("ann",)], "row 1 is not"),
        (["ab"], "row 1 is not"),
        ([("ann", "rome"), ("bob", 3)], "row 2 has key = 3"),
        ([("", "rome")], "user = ''"),
        ([("ann", "rome,1")], "commas"),
        ([("ann", "rome\n")], "line ends"),
        ([("ann", "rome", 0)], "count = 0"),
        ([("ann", "rome", 1.5)], "count = 1.5"),
        ([("ann", "rome", 2**60)], "2\\*\\*50"),
        ([("ann", "rome", True)], "count = True"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_released(rows, words):
    with pytest.raises(to.DomainError, match=words):
        to.release_keys(PLAN, rows, **TARGET)
    certificate = to.certify(PLAN, records="keys", **TARGET)
    with pytest.raises(to.DomainError, match=words):
        certificate.release_keys(rows)
    assert certificate.is_valid


def test_certificates_of_keys_and_of_values_are_not_mixed_up():
    keys = to.certify(PLAN, records="keys", **TARGET)
    with pytest.raises(to.DomainError, match="release_keys"):
        keys.release([1.0])
    with pytest.raises(to.DomainError, match="for values"):
        to.certify("discrete_laplace(scale=2)").release_keys([("ann", "rome")])
    with pytest.raises(to.Error):
        to.release_keys("gaussian(sigma=1)", ROWS)
    with pytest.raises(to.UnmetError):
        to.release_keys("threshold(noise=discrete_laplace, scale=5, above=6)", ROWS, **TARGET)
    assert "keys" in repr(keys)
    assert json.loads(to.release_keys(PLAN, ROWS, **TARGET).certificate.document)["kind"] == "release"
