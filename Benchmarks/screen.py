#!/usr/bin/env python3
"""The screen's cost while meters move, beside other programs that redraw a terminal.

    screen.py SOSTENUTO [--columns 120] [--rows 40] [--seconds 8] [--repeat 3] [--only five]

Each program runs in a terminal of ours, which reads what it writes. The cost is the processor time of its threads in per
cent of one; ours without the threads of the audio driver and the recorder, which run whatever the screen shows and have a
column of their own. A redrawing is a burst of output: what comes without a pause of 5 ms.
"""
import argparse
import array
import fcntl
import itertools
import math
import os
import pty
import random
import select
import shutil
import statistics
import struct
import sys
import termios
import threading
import time

import patches
from bench import WORK

# Threads of ours that make sound.
SOUND = ("clock", "recorder")


def moving():
    """Five nodes: noise that a slow sine makes louder and softer."""
    return patches.patch(
        "Screen: five nodes with meters that move.",
        patches.node("hiss noise level=0dB channels=2"),
        patches.node("swell oscillator freq=0.7Hz level=0dB"),
        patches.node("ring ringmod", "connect hiss -> ring", "connect swell -> ring.carrier"),
        patches.node("main matrix inputs=2 outputs=2", "connect ring -> main"),
        patches.node("out output", "connect main -> out"),
    )


def many():
    """Five hundred nodes: a hundred chains of five."""
    parts = []
    for i in range(100):
        parts += [
            patches.node(f"hiss{i} noise level=-40dB"),
            patches.node(f"tone{i} filter freq=2kHz", f"connect hiss{i} -> tone{i}"),
            patches.node(f"drive{i} distortion drive=6dB", f"connect tone{i} -> drive{i}"),
            patches.node(f"pan{i} pan", f"connect drive{i} -> pan{i}"),
            patches.node(f"gain{i} gain gain=-30dB", f"connect pan{i} -> gain{i}"),
        ]
    out = patches.node("out output", *(f"connect gain{i} -> out" for i in range(100)))
    return patches.patch("Screen: five hundred nodes with meters that move.", *parts, out)


def still():
    return patches.patch(
        "Screen: nothing moves.",
        patches.node("keys keyboard"),
        patches.node("tone gain"),
        patches.node("out output", "connect tone -> out"),
    )


def processor_times(process):
    """Nanoseconds of each thread by its number, with its name."""
    times = {}
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/comm") as name, open(f"/proc/{process}/task/{thread}/schedstat") as stat:
                times[thread] = (name.read().strip(), int(stat.read().split()[0]))
        except OSError:
            pass
    return times


def spectrum(folder):
    """Configuration of a spectrum in bars, of tones that a thread plays."""
    pipe = f"{folder}/tones.fifo"
    if os.path.exists(pipe):
        os.remove(pipe)
    os.mkfifo(pipe)
    patches.put(folder, "cava.conf", f"[general]\nframerate = 25\n[input]\nmethod = fifo\nsource = {pipe}\n")

    def play():
        # Both ends, so that it waits for no reader and outlives one.
        descriptor = os.open(pipe, os.O_RDWR)
        # Ten seconds of tones of any pitch and level, a tenth of a second each.
        sound = array.array("h")
        for _ in range(100):
            step, level = random.uniform(0.01, 1), random.uniform(1000, 30000)
            sound.extend(round(level * math.sin(step * (i // 2))) for i in range(8820))
        tape = sound.tobytes()
        for place in itertools.cycle(range(0, len(tape), 1764)):
            os.write(descriptor, tape[place : place + 1764])
            time.sleep(0.01)

    threading.Thread(target=play, daemon=True).start()
    return f"{folder}/cava.conf"


class Terminal:
    """Runs a program and reads what it writes."""

    def __init__(self, command, columns, rows, home):
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8", LC_ALL="C.UTF-8", HOME=home)
            os.environ.pop("TMUX", None)
            # The size is there before the program asks for it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvp(command[0], command)
        self.bytes = self.bursts = 0
        self.last = 0.0
        self.is_ended = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while not self.is_ended:
                if not select.select([self.descriptor], [], [], 0.5)[0]:
                    continue
                data = os.read(self.descriptor, 65536)
                now = time.monotonic()
                self.bursts += now - self.last > 0.005
                self.bytes += len(data)
                self.last = now
        except OSError:
            pass

    def measure(self, seconds):
        """Per cent of a processor: of the screen, of the sound; redrawings and bytes a second."""
        start, before, (count, size) = time.monotonic(), processor_times(self.process), (self.bursts, self.bytes)
        time.sleep(seconds)
        elapsed, after = time.monotonic() - start, processor_times(self.process)
        costs = {True: 0.0, False: 0.0}
        for thread, (name, used) in after.items():
            costs[name in SOUND] += (used - before.get(thread, (name, 0))[1]) / elapsed / 1e7
        return costs[False], costs[True], (self.bursts - count) / elapsed, (self.bytes - size) / elapsed

    def end(self):
        os.kill(self.process, 15)
        os.waitpid(self.process, 0)
        self.is_ended = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program, folder = os.path.realpath(options.program), os.path.realpath(WORK)
    os.makedirs(folder, exist_ok=True)
    sides = {}
    for name, text in (("five nodes", moving()), ("500 nodes", many()), ("at rest", still())):
        file = f"screen-{name.split()[0]}.patch"
        patches.put(folder, file, text)
        sides[f"sostenuto, {name}"] = [program, f"{folder}/{file}", "--driver", "clock"]
    # btop's shortest interval is 100 ms.
    config = f"{folder}/.config/btop"
    os.makedirs(config, exist_ok=True)
    patches.put(config, "btop.conf", "update_ms = 100\nproc_sorting = \"cpu lazy\"\n")
    for name, command in (
        ("btop, ten a second", ["btop", "--utf-force"]),
        ("cmatrix, 25 a second", ["cmatrix", "-u", "4"]),
        ("cava, 25 a second", ["cava", "-p", spectrum(folder)]),
    ):
        if shutil.which(command[0]):
            sides[name] = command
        else:
            print(f"{command[0]} is not installed: left out", file=sys.stderr)
    sides = {name: command for name, command in sides.items() if options.only in name}
    found = {name: [] for name in sides}
    for _ in range(options.repeat):
        for name, command in sides.items():
            terminal = Terminal(command, options.columns, options.rows, folder)
            try:
                # At rest ours looks rarely after five seconds.
                time.sleep(8 if name.endswith("at rest") else 3)
                found[name].append(terminal.measure(options.seconds))
            finally:
                terminal.end()
    print(f"{options.columns}x{options.rows}; medians of {options.repeat} runs of {options.seconds:g} s")
    print(f"{'':26}{'screen':>9}{'sound':>9}{'redraws/s':>11}{'kB/s':>8}{'ms each':>9}")
    for name, rows in found.items():
        screen, sound, redraws, size = (statistics.median(column) for column in zip(*rows))
        each = f"{screen * 10 / redraws:9.2f}" if redraws > 1 else f"{'-':>9}"
        print(f"{name:26}{screen:8.2f}%{sound:8.2f}%{redraws:11.1f}{size / 1000:8.1f}{each}")
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
