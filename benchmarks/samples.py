"""Makes the data of the workloads, in the environment of this library: NETWORK.bif.gz N_ROWS SEED FOLDER KIND.

``KIND`` is ``frame`` (an Arrow file of dictionaries, which pandas reads as categoricals) or ``text`` (a Parquet file of
strings). Beside the rows there is ``NAME.json``: the parents and the states of every node, for libraries that do not
read BIF. Rows are sampled by this library; the seed is part of the file's name.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import HERE, Context, say


def made(context: Context, network: str, n_rows: int, seed: int, kind: str) -> dict[str, Any]:
    """Return the description of a data set, and make it where it does not exist yet."""
    name = f"{network}-{n_rows}-seed{seed}-{kind}"
    described = context.work / f"{name}.json"
    if not described.exists():
        say(f"  sampling {n_rows:,} rows of {network}, seed {seed} …")
        source = context.data / "networks_bif" / f"{network}.bif.gz"
        arguments = [str(source), str(n_rows), str(seed), str(described), kind]
        subprocess.run([context.python, str(HERE / "samples.py"), *arguments], check=True)
    return {"rows": json.loads(described.read_text())["rows"], "network": str(described)}


def main() -> None:
    """Sample, and write the rows and the description."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    import suffice as sf

    source, n_rows, seed, target, kind = sys.argv[1:]
    model = sf.read(source)
    rows = model.sample(int(n_rows), seed=int(seed), backend="pyarrow")
    if kind == "frame":
        path = Path(target).with_suffix(".arrow")
        feather.write_feather(rows.unify_dictionaries().combine_chunks(), str(path), compression="uncompressed")
    else:
        path = Path(target).with_suffix(".parquet")
        parquet.write_table(pa.table({name: rows.column(name).cast(pa.string()) for name in rows.column_names}), path)
    nodes = {
        node: {"parents": list(parents), "states": [str(state) for state in model.schema[node].labels]}
        for node, parents in model.dag.parents.items()
    }
    Path(target).write_text(json.dumps({"rows": str(path), "nodes": nodes}))


if __name__ == "__main__":
    main()
