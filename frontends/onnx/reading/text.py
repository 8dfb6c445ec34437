"""Strings of a model as numbers: each different string has a code, its position in the list of the model's words.

A graph holds codes of int64, so strings are gathered, compared and chosen like numbers.  Strings that come with a call
and are no words of the model have codes of that call alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class Words:
    """The different strings of a model, or of a call: `known` has the code of each one."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.every: list[str] = list(words)
        self.known: dict[str, int] = {word: code for code, word in enumerate(self.every)}

    def of_call(self) -> Words:
        """The words of one call, which begin with these."""
        return Words(self.every)

    def codes(self, array: Any) -> np.ndarray:
        """The codes of an array of strings, int64, of its shape.  Raises TypeError for an element that is none."""
        texts = np.asarray(array, dtype=object)
        return np.fromiter(map(self._code, texts.reshape(-1).tolist()), np.int64, texts.size).reshape(texts.shape)

    def _code(self, word: Any) -> int:
        found = self.known.get(word)
        if found is not None:
            return found
        if not isinstance(word, str):
            raise TypeError(f"expected an array of str, got an element of {type(word).__name__}: {word!r:.60}")
        self.known[word] = len(self.every)
        self.every.append(word)
        return len(self.every) - 1

    def texts(self, codes: np.ndarray) -> np.ndarray:
        """The strings of an array of codes, an array of objects of its shape."""
        found = np.empty(len(self.every), object)
        found[:] = self.every
        return found[codes]  # type: ignore[no-any-return]
