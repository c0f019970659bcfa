#!/usr/bin/env python3
"""A chord sounds while banks of 140 MB load one after the other, as another client of the server hears it.

    loading.py SOSTENUTO LISTEN [--seconds N] [--bank BANK.sf2]

On a JACK server of its own with the dummy back end and 64 frames a period. Five seconds of loads follow on five seconds
without, in turn: the same program with the same chord, at rest, is the control. A sampler beside the chord gets one of two
banks by turns and plays notes of it; each is read anew, since its file was touched, and the one before is given back. At the
same time a client that does nothing listens to another such server: how often that is late is the machine's doing.

  loads   banks that were read, by the bytes that the process read
  xruns   periods that the server missed while banks load, and in as many seconds without; and those of the other server
  late    callbacks of the client that come after two periods, likewise
  steal   milliseconds in all that the machine below gave to others, where this is a virtual one
"""
import argparse
import os
import shutil
import signal
import sys
import threading

import patches
from bench import WORK
from edits import LEAD, TURN, in_turns, live
from workloads import *

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds from one load to the next.
PACE = 0.5


def patch():
    organ = os.path.realpath(os.path.join(HERE, "..", "Instruments", "organ", "organ.sfz"))
    return (
        f"sostenuto 1\nnode chord sampler instrument={organ}\nnode other sampler\n"
        "node out output channels=1\nnode rest output channels=1\n"
        "connect chord -> out gain=-6dB\nconnect other -> rest gain=-20dB\n"
    )


def script(banks, turns):
    lines = [(0, f"note chord on {key} 100") for key in (48, 55, 60, 64, 67)]
    for turn in range(turns):
        for i in range(round((TURN - 1) / PACE)):
            at = LEAD + (2 * turn + 1) * TURN + 0.5 + i * PACE
            lines.append((at, f"set other.instrument {banks[i % 2]}"))
            for j, key in enumerate((40, 62, 79)):
                lines.append((at + 0.05 * j, f"note other on {key} 90"))
                lines.append((at + 0.4, f"note other off {key}"))
    return "".join(f"at {at:.3f}s {line}\n" for at, line in sorted(lines))


def steal():
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) * 1000 // os.sysconf("SC_CLK_TCK")


def bytes_read(process):
    with open(f"/proc/{process.pid}/io") as file:
        return int(file.readline().split()[1])


def measure(options, folder, banks):
    turns = max(1, round(options.seconds / TURN))
    patches.put(folder, "loading.patch", patch())
    patches.put(folder, "loading.script", script(banks, turns))
    command = [options.program, "play", f"{folder}/loading.patch", "--script", f"{folder}/loading.script"]
    is_over = threading.Event()

    def touch():
        while not is_over.wait(PACE / 2):
            for bank in banks:
                os.utime(bank)

    toucher = threading.Thread(target=touch)
    toucher.start()
    try:
        return live(command, options.listener, 2 * turns * TURN, f"{folder}/loading.f32", bytes_read, True)
    finally:
        is_over.set()
        toucher.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("listener")
    parser.add_argument("--seconds", type=float, default=60, help="of loads, and as long without")
    parser.add_argument("--bank", default=BANK)
    options = parser.parse_args()
    options.program, options.listener = map(os.path.realpath, (options.program, options.listener))
    folder = os.path.realpath(WORK)
    os.makedirs(folder, exist_ok=True)
    # However it ends, its servers and players end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("loading.py: ended from outside"))
    banks = [f"{folder}/bank-{name}.sf2" for name in "ab"]
    try:
        for bank in banks:
            shutil.copyfile(options.bank, bank)
        stolen = steal()
        played, ours, idle, read = measure(options, folder, banks)
        stolen = steal() - stolen
        loads = read / os.path.getsize(banks[0])
    finally:
        for bank in banks:
            if os.path.exists(bank):
                os.remove(bank)
    print(f"{options.seconds:g} s with loads and {options.seconds:g} s without on jackd -d dummy, {RATE} Hz, {BLOCK} frames")
    print(f"loads {loads:.0f}, steal {stolen} ms, longest edit {played['longestEditSeconds'] * 1e3:.2f} ms")
    for what in ("xruns", "late"):
        (loading, rest), (idle_loading, idle_rest) = in_turns(ours[what]), in_turns(idle[what])
        print(f"{what:<6} while loading {loading} (idle client {idle_loading}), at rest {rest} ({idle_rest})")
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
