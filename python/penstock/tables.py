# SPDX-License-Identifier: Apache-2.0
"""Tables of a trace: columns that are NumPy arrays, and conversions for the libraries that work on tables."""
from typing import Any, Dict, Iterator, List, Union

from penstock._trace_library import Texts, TraceError, numpy

__all__ = ["Table"]


class Table:
    """Columns of one length, by name.

    table["duration_ns"] is a NumPy array. A column of texts (table.texts has their names) is stored as numbers with
    the texts beside it: table["name"] gives texts, table.codes("name") the numbers and table.categories("name") the
    texts that they stand for. Integers are as recorded: nanoseconds of CLOCK_MONOTONIC, bytes, -1 if not known.
    """

    def __init__(self, columns: Dict[str, Any], lists: Dict[str, Union[List[str], Texts]]) -> None:
        self._columns = columns
        self._lists = lists
        self.columns: List[str] = list(columns)
        self.texts: List[str] = [name for name in columns if name in lists]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> List[str]:
        return list(self.columns)

    def __getitem__(self, name: str) -> Any:
        column = self._columns[name]
        if name not in self._lists:
            return column
        return numpy().array(self.categories(name), dtype=object)[column]

    def codes(self, name: str) -> Any:
        """A column of texts as numbers: indices into categories(name)."""
        return self._columns[name]

    def categories(self, name: str) -> List[str]:
        texts = self._lists[name]
        return texts.list() if isinstance(texts, Texts) else texts

    def where(self, mask: Any) -> "Table":
        """The rows that a NumPy mask or an array of row numbers chooses."""
        return Table({name: column[mask] for name, column in self._columns.items()}, self._lists)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; texts are categories."""
        pandas = _library("pandas")
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(_signed(column), self.categories(name))
                if name in self._lists
                else column
                for name, column in self._columns.items()
            }
        )

    def to_arrow(self) -> Any:
        """A pyarrow.Table, without a copy of its numbers; texts are dictionaries."""
        arrow = _library("pyarrow")
        return arrow.table(
            {
                name: arrow.DictionaryArray.from_arrays(arrow.array(_signed(column)), arrow.array(self.categories(name)))
                if name in self._lists
                else arrow.array(column)
                for name, column in self._columns.items()
            }
        )

    def to_polars(self) -> Any:
        """A polars.DataFrame; texts are categories."""
        polars = _library("polars")
        columns = {}
        for name, column in self._columns.items():
            if name not in self._lists:
                columns[name] = polars.Series(name, column)
                continue
            texts = polars.Series(name, self.categories(name), dtype=polars.String)
            columns[name] = texts.gather(polars.Series(_signed(column))).cast(polars.Categorical)
        return polars.DataFrame(columns)

    def to_parquet(self, path: Any) -> None:
        """Writes one Parquet file, with pyarrow."""
        table = self.to_arrow()
        _library("pyarrow.parquet").write_table(table, path)

    def __repr__(self) -> str:
        return "<penstock.Table of %d rows: %s>" % (len(self), ", ".join(self.columns))


def _signed(codes):
    """Codes as signed integers, which the libraries need."""
    return codes.astype("int32", copy=False)


def _library(name):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise TraceError("%s is not installed: pip install %s" % (package, package)) from None
