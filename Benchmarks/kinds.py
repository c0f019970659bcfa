#!/usr/bin/env python3
"""What a node of each kind costs: nanoseconds for a block of 64 frames at two channels, at 48 kHz.

    kinds.py PROGRAM [--only KIND] [--repeat 5] [--seconds 10]

The figure is user CPU time of a render with many nodes of the kind less that of one without them. A kind that has a
`cost` in its description, by which nodes are given to threads, has it from here.
"""
import argparse
import os
import tempfile

from measure import Failure, median, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK, RATE = 64, 48000

# Each kind: how many nodes are measured, and what is set at each. A test reads the names.
KINDS = {
    "keyboard": (200, ""),
    "midi": (100, ""),
    "oscillator": (200, "shape=saw channels=2"),
    "noise": (200, "channels=2"),
    "input": (100, ""),
    "output": (100, ""),
    "gain": (500, "gain=-0.01dB"),
    "pan": (500, ""),
    "mix": (500, ""),
    "matrix": (500, "inputs=2 outputs=2"),
    "filter": (500, "freq=20kHz q=0.5"),
    "equalizer": (200, ""),
    "distortion": (200, ""),
    "delay": (200, ""),
    "sampler": (50, f"instrument={ROOT}/Instruments/organ/organ.sfz"),
    "player": (50, "file=sound.wav loop=on autoplay=on"),
    "ringmod": (500, "freq=1kHz mix=1%"),
}
SOURCES = ("oscillator", "noise", "input", "sampler", "player")
EVENTS = ("keyboard",)


def patch(kind, count, settings):
    """The nodes side by side for sources, sinks and what has events only; otherwise in series."""
    lines = ["sostenuto 1", "node tone oscillator channels=2 level=-40dB", "node keys keyboard"]
    last = "tone"
    for i in range(count):
        name = f"n{i}"
        lines.append(f"node {name} {kind} {settings}".rstrip())
        if kind == "output":
            lines.append(f"connect tone -> {name}")
        elif kind in EVENTS or kind == "sampler":
            lines.append(f"connect keys -> {name}")
        elif kind not in SOURCES and kind != "midi":
            lines.append(f"connect {last} -> {name}")
            last = name
    lines.append("node end output")
    lines.append(f"connect {last} -> end")
    if kind in SOURCES:
        lines += [f"connect n{i} -> end gain=-60dB" for i in range(count)]
    return "\n".join(lines) + "\n"


def cost(program, folder, kind, count, settings, seconds, repeat):
    """Median nanoseconds of a node and block."""
    for name, number in (("with", count), ("without", 0)):
        with open(os.path.join(folder, f"{name}.patch"), "w") as file:
            file.write(patch(kind, number, settings))
    with open(os.path.join(folder, "notes.script"), "w") as file:
        file.write("at 0s note keys on 60 90\n")

    def seconds_of(name):
        command = [program, "render", f"{name}.patch", "--seconds", str(seconds), "--period", str(BLOCK),
                   "--script", "notes.script", "--output", f"{name}.wav"]  # fmt: skip
        return run(command, folder)[0]

    # In turns, so that what else runs on the machine meets both.
    figures = [seconds_of("with") - seconds_of("without") for _ in range(repeat)]
    return median(figures) * 1e9 / count / (seconds * RATE / BLOCK)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", action="append", default=[], help="a kind, such as filter")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    program = os.path.realpath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        # What the player plays.
        with open(os.path.join(folder, "tone.patch"), "w") as file:
            file.write("sostenuto 1\nnode tone oscillator channels=2\nnode end output\nconnect tone -> end\n")
        run([program, "render", "tone.patch", "--seconds", "2", "--output", "sound.wav"], folder)
        for kind, (count, settings) in KINDS.items():
            if options.only and kind not in options.only:
                continue
            try:
                figure = cost(program, folder, kind, count, settings, options.seconds, options.repeat)
                print(f"{kind:12} {figure:8.1f} ns a node and block, of {count}")
            except Failure as failure:
                print(f"{kind:12} {failure}")


if __name__ == "__main__":
    main()
