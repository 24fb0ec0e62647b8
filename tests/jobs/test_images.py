"""Cells are counted right, and a region remembers its last thousand images, no more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.images import cells, events, filters, reference
from jobs.images.reference import Answer
from jobs.images.window import LENGTH, PixelWindow, packed, unpacked

NOW = 1_800_000_000_000
SMALL = {"megapixels": "0.05"}


@pytest.mark.parametrize("megapixels", [0.05, 0.1, 0.3])
def test_as_many_cells_are_found_as_were_drawn(megapixels: float) -> None:
    for slide in cells.slides(8, megapixels, seed=3):
        assert filters.count(filters.decompressed(slide.jpeg)) == slide.cells
        assert reference.cells(slide.jpeg) == slide.cells


def test_a_large_image_has_the_size_of_the_papers() -> None:
    (slide,) = cells.slides(1)
    image = filters.decompressed(slide.jpeg)
    assert image.shape[0] * image.shape[1] / 1e6 == pytest.approx(1.7, rel=0.02)
    assert filters.count(image) == slide.cells
    assert len(slide.jpeg) < events.PROGRAM.event_bytes


def test_an_empty_image_has_no_cells() -> None:
    assert filters.count(np.full((128, 192, 3), 12, np.uint8)) == cells.Cells(0, 0, 0)


def test_what_is_no_image_is_told() -> None:
    with pytest.raises(ValueError, match="not an image"):
        filters.decompressed(b"nothing")


@given(st.lists(st.integers(0, 255), max_size=30), st.integers(1, 10))
def test_the_window_has_the_last_ones_in_order(levels: list[int], length: int) -> None:
    window = PixelWindow(length)
    for level in levels:
        window.add(unpacked(packed(np.full((4, 6, 3), level, np.uint8))))
    assert window.intensities(64, 32) == [[level] * 3 for level in levels[-length:]]


def test_a_copy_of_the_window_stays_as_it_was() -> None:
    window = PixelWindow()
    window.add(np.zeros((4, 6, 3), np.uint8))
    before = window.copy()
    window.add(np.ones((4, 6, 3), np.uint8))
    assert (len(before), len(window)) == (1, 2)


def test_a_hundredth_are_queries_and_all_are_of_the_region() -> None:
    source = events.PROGRAM.source(1, 2, 8, SMALL)
    made = [events.decode(event, NOW) for event in source.batch(5_000, NOW)]
    assert sum(not event.image for event in made) / len(made) == pytest.approx(0.01, abs=0.005)
    assert all(2 / 8 <= event.x / events.PLANE < 3 / 8 for event in made)
    assert len({event.id for event in made}) == len(made)


def test_the_reference_answers_from_the_last_images() -> None:
    slide, other = cells.slides(2, 0.05)
    image = events.Event("i", 0, 0, NOW, slide.jpeg)
    query = events.Event("q", 0, 0, NOW, b"", row=32, column=64)
    region = [image._replace(id=str(number)) for number in range(LENGTH)]
    answers = reference.expected([*region, image._replace(id="last", image=other.jpeg), query])
    blue, green, red = filters.decompressed(other.jpeg)[32, 64].tolist()
    assert answers["last"] == Answer(other.cells, (), NOW)
    assert len(answers["q"].intensities) == LENGTH
    assert answers["q"].intensities[-1] == (red, green, blue)


def test_an_answer_given_twice_is_found() -> None:
    record = b'{"id":"a","event_time":1,"cells":{"red":1,"green":2,"blue":3}}'
    assert reference.collected([record]) == {"a": Answer(cells.Cells(1, 2, 3), (), 1)}
    with pytest.raises(ValueError, match="twice"):
        reference.collected([record, record])
