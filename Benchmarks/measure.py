"""What a program costs, and what it rendered."""
import array
import math
import os
import statistics
import struct
import subprocess
import time


class Failure(Exception):
    pass


def unpin():
    """Pd does not wait for the thread that writes its file. Where the benchmark is pinned to one processor, that thread has no
    turn before Pd quits, and Pd counts as silent."""
    os.sched_setaffinity(0, range(os.cpu_count()))


def run(command, folder):
    """User CPU seconds, wall seconds, and all CPU seconds of a whole process. Linux splits user from system time by ticks
    of some milliseconds; only their sum is exact for a short process."""
    environment = dict(
        os.environ, OPENBLAS_NUM_THREADS="1", HOME=folder, JACK_NO_START_SERVER="1"
    )
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, cwd=folder, preexec_fn=unpin if os.path.basename(command[0]) == "pd" else None,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    wall = time.perf_counter() - start
    if status != 0:
        raise Failure(f"{' '.join(command)[:200]}: exit status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime, wall, usage.ru_utime + usage.ru_stime


def read_wav(path, rate=None):
    """The channels of a file of 32-bit floats, at `rate` frames a second."""
    with open(path, "rb") as file:
        data = file.read()
    position, channels = 12, 0
    while position + 8 <= len(data):
        name, size = data[position : position + 4], struct.unpack_from("<I", data, position + 4)[0]
        position += 8
        if name == b"fmt ":
            channels, bits = (struct.unpack_from("<H", data, position + at)[0] for at in (2, 14))
            if bits != 32:
                raise Failure(f"{path}: {bits} bits")
            found = struct.unpack_from("<I", data, position + 4)[0]
            if rate and rate != found:
                raise Failure(f"{path}: {found} frames a second")
        elif name == b"data":
            length = min(size, len(data) - position) // 4 * 4
            samples = array.array("f", data[position : position + length])
            return [samples[channel::channels] for channel in range(channels)]
        position += size + (size & 1)
    raise Failure(f"{path}: no sound in it")


def rms(path, start=0.5, end=2.5):
    """Of all channels together, between two times."""
    power = 0.0
    for channel in read_wav(path):
        part = channel[int(start * 48000) : int(end * 48000)]
        if len(part) < (end - start) * 47900:
            raise Failure(f"{path}: ends early")
        power += sum(x * x for x in part) / len(part)
    return math.sqrt(power)


def median(values):
    return statistics.median(values)


def spread(values):
    """Of the middle half: the distance of the quartiles over the median."""
    if len(values) < 2 or median(values) <= 0:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / median(values)
