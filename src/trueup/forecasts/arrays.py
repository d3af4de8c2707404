"""Any array, frame, series or list as a NumPy array, without a copy where the memory can be shared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.errors import InputError, Words, must_be

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def as_numpy(name: str, value: object) -> NDArray[Any]:
    """Read ``value`` (called ``name`` in messages) as a NumPy array of one or more dimensions."""
    library = type(value).__module__.partition(".")[0]
    if isinstance(value, np.ma.MaskedArray):
        array = _unmasked(name, value)
    elif library == "torch":
        array = _from_torch(value)
    elif library == "cupy":
        array = value.get()  # type: ignore[attr-defined]
    elif library in FRAMES:
        array = _from_frame(name, value)
    else:
        array = _from_sequence(name, value)
    if array.ndim == 0 or array.dtype.names is not None:
        raise must_be(name, "an array with one entry or row per sample", Words(_describe(value)))
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def as_floats(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Refuse what is not numeric; leave numbers as they are; read numbers held as objects."""
    if array.dtype.kind in "fiub":
        return array
    if array.dtype.kind == "O":
        return _floats_from_objects(name, array)
    raise must_be(name, "numeric", Words(f"{array.dtype} values such as {array.flat[0]!r}"))


def describe_shape(array: NDArray[Any]) -> Words:
    """Say a shape in words, for messages."""
    return Words(f"an array of shape {tuple(int(size) for size in array.shape)}")


def first_row(bad: NDArray[Any]) -> int:
    """First row of a boolean array (n,) or (n, d) in which anything is true; -1 if none."""
    rows = bad if bad.ndim == 1 else bad.any(axis=tuple(range(1, bad.ndim)))
    return int(np.argmax(rows)) if rows.any() else -1


def _unmasked(name: str, value: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    row = first_row(np.ma.getmaskarray(value))
    if row >= 0:
        raise must_be(
            name, "have no masked entries", Words("one"), row=row, hint="drop the masked rows first"
        )
    return np.asarray(value.data)


def _from_torch(value: Any) -> NDArray[Any]:
    tensor = value.detach()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no bfloat16; float32 holds it exactly
        tensor = tensor.float()
    array: NDArray[Any] = tensor.resolve_conj().cpu().numpy()
    return array


def _from_frame(name: str, value: Any) -> NDArray[Any]:
    import narwhals.stable.v1 as nw

    if type(value).__module__.startswith("pyarrow") and not hasattr(value, "column_names"):
        if hasattr(value, "combine_chunks"):
            value = value.combine_chunks()
        array: NDArray[Any] = value.to_numpy(zero_copy_only=False)
        return array
    try:
        frame = nw.from_native(value, eager_only=True, allow_series=True)
    except TypeError:
        raise must_be(
            name,
            "a frame or series held in memory",
            Words(_describe(value)),
            hint="call .collect() on a lazy frame first",
        ) from None
    return np.asarray(frame.to_numpy())


def _from_sequence(name: str, value: object) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise must_be(
            name, "rectangular", Words("rows of different lengths"), hint="check for missing entries"
        ) from None


def _floats_from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.where(array == None, np.nan, array).astype(np.float64)  # noqa: E711
    except (TypeError, ValueError):
        for row, entry in enumerate(array.reshape(len(array), -1)):
            for item in entry:
                try:
                    float(item)
                except (TypeError, ValueError):
                    raise must_be(name, "numeric", item, row=row) from None
        raise InputError(f"`{name}` must be numeric; it could not be read as numbers.") from None


def _describe(value: object) -> str:
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
