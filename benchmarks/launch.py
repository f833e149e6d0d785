"""Run one command and print its wall time, processor time and peak memory as JSON.

    python -I -S launch.py OUTPUT COMMAND...

Linux hands the peak memory of the process that starts another on to the one started. So the
benchmark, which holds arrays, starts this small process, and this one starts the command.
Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import time

# Both sides run from compiled modules, as installed packages do.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> int:
    """Run the command with its standard output sent to the file OUTPUT."""
    output, *command = sys.argv[1:]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, flags, 0o644)]
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, ENVIRONMENT, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    worked = usage.ru_utime + usage.ru_stime
    found = {"seconds": seconds, "processor_seconds": worked, "peak_bytes": usage.ru_maxrss * unit}
    json.dump(found, sys.stdout)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
