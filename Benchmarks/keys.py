#!/usr/bin/env python3
"""From a key that is pressed to the first sample that another JACK client gets.

    keys.py SOSTENUTO LISTEN ONSET [--presses 300] [--load 50]

The front end runs in a terminal of ours, on a JACK server of its own with the dummy back end and 64 frames a period,
while W1's voices on other outputs take so many per cent of a processor. A key plays a click; the time counts from just
before the key is written to the terminal to the click's first frame. The limit is a period and 2 ms.
"""
import argparse
import fcntl
import os
import pty
import random
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

import edits
import patches
from bench import WORK
from workloads import *

PLAY_MODE = b"\x1b[17~"  # F6
LIMIT = 1000 * BLOCK / RATE + 2


def patch(groups):
    """The click, and on other outputs the load."""
    load = [part for g in range(groups) for part in patches.saw_group(g * WIDTH, WIDTH, 1e-4, str(g))]
    return patches.patch(
        "Keys: a click under load.",
        patches.node("keys keyboard"),
        patches.node("click sampler instrument=click.sfz", "connect keys -> click"),
        patches.node("out output", "connect click -> out"),
        *load,
        *([patches.node("rest output", *(f"connect mix{g} -> rest" for g in range(groups)))] if groups else []),
    )


def front_end(options, server, path):
    """The process and its terminal, whose screen nobody looks at."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", HOME=os.path.dirname(path))
        os.execv(options.program, [options.program, path, "--driver", "jack", "--jack-server", server])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 130, 0, 0))

    def read():
        try:
            while os.read(terminal, 65536):
                pass
        except OSError:
            pass

    threading.Thread(target=read, daemon=True).start()
    return process, terminal


def press(options, folder, groups):
    """Milliseconds of each press that was heard."""
    write_wav(f"{folder}/press.wav", [0.5] * 240)
    patches.put(folder, "click.sfz", "<region> sample=press.wav loop_mode=one_shot amp_veltrack=0\n")
    patches.put(folder, "keys.patch", patch(groups))
    server = edits.Server(f"sostenuto-keys-{os.getpid()}", True)
    process = ear = None
    try:
        edits.wait_for(server)
        process, terminal = front_end(options, server.name, f"{folder}/keys.patch")
        ear = subprocess.Popen([options.onset, server.name, "sostenuto:out_1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if ear.stdout.readline() != "ready\n":
            sys.exit("the listener did not start")
        time.sleep(2)
        os.write(terminal, PLAY_MODE)
        time.sleep(0.5)
        times = []
        for i in range(2 * options.presses):
            # Terminals do not say when a key is let go: it is pressed once more, a round of the four keys later.
            if i // 4 % 2 == 0:
                times.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
            os.write(terminal, b"zcbm"[i % 4 : i % 4 + 1])
            # At any place in a period.
            time.sleep(0.1 + 0.05 * random.random())
        time.sleep(0.5)
        onsets = [int(line) for line in ear.communicate("\n")[0].split()]
    finally:
        if process:
            os.kill(process, 15)
            os.waitpid(process, 0)
        if ear:
            edits.end(ear)
        server.stop()
    heard, place = [], 0
    for i, pressed in enumerate(times):
        while place < len(onsets) and onsets[place] < pressed:
            place += 1
        following = times[i + 1] if i + 1 < len(times) else pressed + 10**9
        if place < len(onsets) and onsets[place] < following:
            heard.append((onsets[place] - pressed) / 1e6)
    return heard


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("listener")
    parser.add_argument("onset")
    parser.add_argument("--presses", type=int, default=300)
    parser.add_argument("--load", type=float, default=50)
    options = parser.parse_args()
    options.program = os.path.realpath(options.program)
    options.asynchronous = True
    folder = os.path.realpath(WORK)
    patches.write_others(folder)
    groups = edits.groups_for(options, folder) if options.load else 0
    heard = press(options, folder, groups)
    if len(heard) < 10:
        sys.exit(f"{len(heard)} of {options.presses} presses were heard")
    percentiles = statistics.quantiles(heard, n=100)
    print(f"{len(heard)} of {options.presses} presses heard, {groups * WIDTH} voices as load, {BLOCK} frames at {RATE} Hz")
    print(f"median {percentiles[49]:.2f} ms, 99 % {percentiles[98]:.2f} ms, longest {max(heard):.2f} ms; limit {LIMIT:.2f} ms")
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
