# SPDX-License-Identifier: Apache-2.0
"""One peer and one question, in a process of its own: each line on standard input is one more measurement.

    python worker.py PEER METHOD ARGUMENTS-AS-JSON

writes a line of JSON for start-up and one for each measurement; memory is the peak of the process.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings


def plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return float(value)  # type: ignore[arg-type]


def main() -> None:
    warnings.simplefilter("ignore")
    peer, method, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    from adapters import PEERS

    begin, begin_cpu = time.perf_counter(), time.process_time()
    adapter = PEERS[peer]()
    print(json.dumps({"wall": time.perf_counter() - begin, "cpu": time.process_time() - begin_cpu}), flush=True)
    for _ in sys.stdin:
        begin = time.process_time()
        try:
            value = getattr(adapter, method)(**arguments)
            spent = time.process_time() - begin
            answer = {"cpu": spent, "value": plain(value)}
        except Exception as error:  # whatever a peer raises is its answer
            answer = {"cpu": time.process_time() - begin, "failure": f"{type(error).__name__}: {error}"[:200]}
        answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
