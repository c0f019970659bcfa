#!/usr/bin/env python3
"""How the cost of a patch grows with its nodes: opening, blocks, edits, reports, undo, memory.

    scale.py SCALE [--sizes 100,1000,10000,100000] [--form groups|chain|sum|web|latent|loops] [--repeat 3]

Milliseconds of processor time, the best of some turns. `slope` is by which power of the size a row grows from the
second largest patch to the largest: 1 is a straight line, 0 does not grow.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile

# What is wanted of 100,000 nodes, in milliseconds.
WANTED = {"open": 2000, "set": 5, "connect, disconnect": 5, "add, remove": 5, "insert": 5, "replace": 5, "undo, redo": 5,
          "connect to a far node": 5, "map": 5, "remove, undo": 5}


def turn(program, size, folder, form):
    output = subprocess.run([program, str(size), os.path.join(folder, "scale.patch"), form], capture_output=True, text=True, check=True)
    return {name: float(value) for name, value in (line.split("\t") for line in output.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--form", default="groups")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        best = {}
        for size in sizes:
            turns = [turn(os.path.realpath(options.program), size, folder, options.form) for _ in range(options.repeat)]
            best[size] = {name: min(figures[name] for figures in turns) for name in turns[0]}
            print(f"{size} nodes", file=sys.stderr)
    print(f"milliseconds of processor time, the best of {options.repeat} turns; memory in bytes a node")
    print(f"{'':26}" + "".join(f"{size:>12}" for size in sizes) + "   slope  wanted")
    for name in best[sizes[0]]:
        row = [best[size][name] for size in sizes]
        slope = ""
        if len(sizes) > 1 and row[-2] > 0:
            slope = f"{math.log(max(row[-1], 1e-9) / row[-2]) / math.log(sizes[-1] / sizes[-2]):.2f}"
        wanted = f"{WANTED[name]:g}" + (" over" if row[-1] > WANTED[name] else "") if name in WANTED and sizes[-1] == 100000 else ""
        print(f"{name:26}" + "".join(f"{value:12.4g}" for value in row) + f"{slope:>8}  {wanted}")
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
