"""Arrays of any library: which one it is, how they are laid out, and sums that lose no digits."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from sedeval_soft.errors import SettingsError, install_command

try:
    import array_api_compat
except ImportError as error:  # pragma: no cover - tests run it in a process of its own
    raise ImportError(
        f"sedeval_soft.apps.training.functional needs array-api-compat: {install_command('array_api_compat')}"
    ) from error

Array = Any
"""An array of whichever library; shapes are in the docstrings."""

Namespace = Any
"""The functions of an array library under the names of the standard."""

_BLOCK = 64
"""Terms added one after another: the rounding of a sum grows with them."""


class Layout(TypedDict, total=False):
    """The layout of arrays: the keywords of `lay_out`, which all functions of arrays take."""

    mask: Array | None
    weights: Array | None
    axis: int | tuple[int, ...] | None
    class_axis: int


class Fuzzy(Layout, total=False):
    """The same, and what fuzzy sets have in common: `minimum`, `product` or `lukasiewicz`."""

    t_norm: str


@dataclass(frozen=True, slots=True)
class Sides:
    """Reference and system laid out alike.

    reference, system: (*kept, n_segments, n_classes), 0 on both sides for masked cells. weight: of each
    segment, (*kept, n_segments, 1), or None if all count 1. The arrays are at least of single precision, in
    which sums are taken.
    """

    xp: Namespace
    reference: Array
    system: Array
    mask: Array | None
    weight: Array | None

    def total(self, values: Array) -> Array:
        """Sum weighted segments: (*kept, n_segments, n_classes) to (*kept, n_classes)."""
        return total(self.xp, values if self.weight is None else values * self.weight)


def namespace_of(*arrays: Array) -> Namespace:
    """Return the functions of the library that all arrays are of; raises SettingsError if there is none."""
    for array in arrays:
        if isinstance(array, np.ma.MaskedArray):
            raise SettingsError("a masked array, whose mask would be lost; expected a plain one, and `mask`")
    torch = sys.modules.get("torch")
    if torch is not None and all(isinstance(array, torch.Tensor) for array in arrays):
        # Found out by itself it would be told of caches by those who compile it.
        import array_api_compat.torch as namespace

        return namespace
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError as error:
        kinds = ", ".join(f"{type(array).__module__}.{type(array).__qualname__}" for array in arrays)
        raise SettingsError(
            f"expected arrays of one library (NumPy, PyTorch, JAX ...), found {kinds}"
        ) from error


def lay_out(
    reference: Array,
    system: Array,
    *,
    mask: Array | None = None,
    weights: Array | None = None,
    axis: int | tuple[int, ...] | None = None,
    class_axis: int = -1,
) -> Sides:
    """Check two arrays against one another; move their classes to the last axis, summed axes before it.

    Arguments as of `soft_counts`. Raises SettingsError for shapes and types that do not go together.
    """
    xp = namespace_of(reference, system, *(array for array in (mask, weights) if array is not None))
    shape = tuple(reference.shape)
    ndim = len(shape)
    if tuple(system.shape) != shape:
        raise SettingsError(f"system has the shape {tuple(system.shape)}; expected the reference's, {shape}")
    if ndim < 2:
        raise SettingsError(f"arrays of shape {shape}; expected (..., n_segments, n_classes)")
    place = _place(class_axis, ndim, "class_axis")
    dtype = _result_type(xp, reference, system)
    work = dtype if xp.finfo(dtype).bits >= 32 else xp.float32
    order, n_kept = _order(ndim, axis, place)

    def arranged(array: Array) -> Array:
        moved = xp.permute_dims(array, order)
        sizes = tuple(moved.shape)
        return xp.reshape(moved, (*sizes[:n_kept], math.prod(sizes[n_kept:-1]), sizes[-1]))

    segments = shape[:place] + shape[place + 1 :]

    def spread(array: Array, what: str) -> Array:
        """Return a mask or weights laid out as the values are; they may lack the axis of classes."""
        whole = xp.expand_dims(array, axis=place) if len(array.shape) == ndim - 1 else array
        sizes = {(length, size) for length, size in zip(whole.shape, shape, strict=False) if length != 1}
        if len(whole.shape) != ndim or any(length != size for length, size in sizes):
            raise SettingsError(
                f"{what} of shape {tuple(array.shape)}; expected {segments}, one of each segment, or {shape}"
            )
        return arranged(xp.broadcast_to(whole, shape))

    reference, system = (arranged(xp.astype(array, work, copy=False)) for array in (reference, system))
    if mask is not None:
        if not xp.isdtype(mask.dtype, "bool"):
            raise SettingsError(f"mask has the type {mask.dtype}; expected booleans, True where cells count")
        mask = spread(mask, "mask")
        reference, system = (xp.where(mask, array, xp.zeros_like(array)) for array in (reference, system))
    if weights is not None:
        if len(weights.shape) >= ndim:
            raise SettingsError(
                f"weights of shape {tuple(weights.shape)}; expected one of each segment, {segments}"
            )
        weights = spread(xp.astype(weights, work, copy=False), "weights")[..., :1]
    return Sides(xp, reference, system, mask, weights)


def _order(ndim: int, axis: int | tuple[int, ...] | None, place: int) -> tuple[tuple[int, ...], int]:
    """Return the order of axes - kept, summed, classes - and how many are kept."""
    others = [i for i in range(ndim) if i != place]
    given = others if axis is None else axis if isinstance(axis, tuple) else (axis,)
    summed = [_place(each, ndim, "axis") for each in given]
    if place in summed or len({*summed}) < len(summed) or not summed:
        raise SettingsError(f"axis {axis!r}: expected axes other than that of the classes, each once")
    kept = [i for i in others if i not in summed]
    return (*kept, *summed, place), len(kept)


def _result_type(xp: Namespace, *arrays: Array) -> Any:  # noqa: ANN401 - of any library
    """Return the floating type of two; hard labels, integers or booleans, take the other side's."""
    dtypes = [array.dtype for array in arrays]
    if any(xp.isdtype(dtype, "complex floating") for dtype in dtypes):
        raise SettingsError("complex values; expected values in [0, 1]")
    floating = [dtype for dtype in dtypes if xp.isdtype(dtype, "real floating")]
    return xp.result_type(*floating) if floating else xp.asarray(0.0).dtype


def in_type_of(sides: tuple[Array, Array], score: Array) -> Array:
    """Return a score in the floating type of the two sides that it is of."""
    xp = namespace_of(score)
    return xp.astype(score, _result_type(xp, *sides), copy=False)


def _place(axis: int, ndim: int, what: str) -> int:
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise SettingsError(f"{what} {axis!r}: expected an axis of arrays of {ndim} dimensions")
    return axis % ndim


def total(xp: Namespace, values: Array) -> Array:
    """Sum segments: (..., n_segments, n_classes) to (..., n_classes).

    Blocks first, then their sums: libraries that add one row after another lose digits of single precision.
    """
    while values.shape[-2] > _BLOCK:
        size, n_classes = values.shape[-2:]
        whole = size // _BLOCK * _BLOCK
        blocks = xp.reshape(values[..., :whole, :], (*values.shape[:-2], whole // _BLOCK, _BLOCK, n_classes))
        sums = xp.sum(blocks, axis=-2)
        values = sums if whole == size else xp.concat([sums, values[..., whole:, :]], axis=-2)
    return xp.sum(values, axis=-2)


def ratio(xp: Namespace, numerator: Array, denominator: Array) -> tuple[Array, Array]:
    """Return quotients, 0 if the denominator is 0, and whether they are defined.

    The division itself never meets a 0: a gradient would be NaN there, even where its value is not used.
    """
    defined = denominator != 0
    safe = xp.where(defined, denominator, xp.ones_like(denominator))
    quotient = numerator / safe
    return xp.where(defined, quotient, xp.zeros_like(quotient)), defined
