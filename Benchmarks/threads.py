#!/usr/bin/env python3
"""W1 as 768 nodes and W7, live on one, two and four threads: over JACK, 64 frames a period.

    threads.py SOSTENUTO LISTEN [--seconds N] [--turns N] [--busy N]

Each work plays on a JACK server of its own with the dummy back end, on each number of threads in turn. Medians of the
turns, beside one thread:

  load    the share of each period until the last sample is rendered: the critical path
  time    of all the player's threads together, in per cent of a processor
  late    callbacks of a listening client that come after two periods, a second

The load counts from the start of the callback; with --busy, so many loops beside it want a processor each.
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys

import edits
import patches
from bench import WORK
from workloads import *

WORKS = {"W7": "W7.patch", "W1 as 768 nodes": "W1-nodes.patch"}
COUNTS = (1, 2, 4)


def processor_time(process):
    """Seconds of all its threads."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(options, folder, path, count):
    command = [options.program, "play", f"{folder}/{path}", "--threads", str(count)]
    played, ours, _, time = edits.live(
        command, options.listener, options.seconds, f"{folder}/threads.f32", processor_time, True
    )
    return played["load"] * 100, time / options.seconds * 100, sum(ours["late"]) / options.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("listener")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    options.program, options.listener = map(os.path.realpath, (options.program, options.listener))
    folder = os.path.realpath(WORK)
    patches.write_others(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("threads.py: ended from outside"))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    try:
        print(f"{RATE} Hz, {BLOCK} frames, medians of {options.turns} turns of {options.seconds} s, {options.busy} busy loops")
        layout = "{:<16} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}"
        print(layout.format("work", "threads", "load", "of one", "time", "of one", "late/s"))
        for title, path in WORKS.items():
            turns = [[measure(options, folder, path, count) for count in COUNTS] for _ in range(options.turns)]
            figures = [[statistics.median(column) for column in zip(*rows)] for rows in zip(*turns)]
            for count, (load, time, late) in zip(COUNTS, figures):
                print(layout.format(title, count, f"{load:.2f} %", f"{load / figures[0][0]:.2f}", f"{time:.2f} %",
                                    f"{time / figures[0][1]:.2f}", f"{late:.1f}"), flush=True)  # fmt: skip
    finally:
        for loop in loops:
            edits.end(loop)
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
