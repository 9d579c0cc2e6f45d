"""Parquet files where they lie, as Arrow reads them. Called by whoever reads rows of a stream.

Arrow reads ahead in threads of its own. One of them that lets go of a Python object while the process ends aborts it,
so they get a file that Arrow opens itself, or memory that is Arrow's own.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from weft.locations.local import LocalLocation
from weft.locations.location import Addressed, locate


def open_parquet(address: Addressed) -> pq.ParquetFile:
    """A Parquet file at a path or an address; raises FileNotFoundError when it is not there."""
    return pq.ParquetFile(arrow_file(address))


def arrow_file(address: Addressed) -> str | pa.NativeFile:
    """What readers of Parquet take: the path of a file on a disk, or the content of one that lies elsewhere."""
    location = locate(address)
    if isinstance(location, LocalLocation):
        return str(location.path)
    content = location.read()
    buffer = pa.allocate_buffer(len(content))
    with pa.FixedSizeBufferWriter(buffer) as writer:
        writer.write(content)
    return pa.BufferReader(buffer)
