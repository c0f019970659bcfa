#!/usr/bin/env python3
"""Our side and the peers' on the same work, in turns, as one table.

    bench.py SOSTENUTO [--generic SOSTENUTO] [--repeat N] [--seconds N] [--only W1]… [--json FILE]

The figure is user CPU seconds per rendered second: of a long render less a short one, over the
difference of their lengths, so that the start is not in it. W6 and SF2 are the start: wall seconds of a
process that renders one block. W7 is two and four threads beside one: wall seconds, and the processor time of all threads. Peers that are not installed are left out. All sides must sound as the work does
before any is timed.
"""
import argparse
import json
import os
import shutil
import sys

import patches
import peers
from measure import Failure, median, rms, run, spread
from workloads import *

ONE_BLOCK = BLOCK / RATE
WORK = os.path.join(os.path.dirname(patches.KEPT), "..", ".build-bench")


class Side:
    """One program at one work."""

    def __init__(self, name, command, sounds=None, less=None, short=ONE_BLOCK, times=1, is_start=False, is_wall=False):
        """`command`: of folder, seconds, output file. `sounds`: its RMS, none when it makes no file.
        `less`: the side whose cost is subtracted. `short`: the shorter render's seconds. `times`: how
        much longer the long render is than the others', for works that cost little beside their start.
        `is_wall`: counts what the clock on the wall says, not the processors."""
        self.name, self.command, self.sounds = name, command, sounds
        self.less, self.short, self.times, self.is_start, self.is_wall = less, short, times, is_start, is_wall
        self.figures = []

    def render(self, folder, seconds):
        output = f"{folder}/{self.name.replace(' ', '-')}.wav"
        return output, run(self.command(folder, seconds, output), folder)

    def check(self, folder):
        """What is wrong with its sound; none when nothing is."""
        try:
            output, _ = self.render(folder, 2.5)
            if self.sounds is None:
                return None
            heard = rms(output)
        except (Failure, OSError) as error:
            return str(error)
        if abs(heard - self.sounds) > 0.1 * self.sounds:
            return f"sounds at RMS {heard:.4f}, should at {self.sounds:.4f}"

    def measure(self, folder, seconds):
        if self.is_start:
            return self.render(folder, ONE_BLOCK)[1][1]
        seconds *= self.times
        short, long = (self.render(folder, length)[1][self.is_wall] for length in (self.short, seconds))
        return (long - short) / (seconds - self.short)

    def take(self, folder, seconds):
        figure = self.measure(folder, seconds)
        if self.less:
            figure -= self.less.measure(folder, seconds)
        self.figures.append(figure)


class Row:
    """A work: ours, a peer's, and what ours may be of it. Without `peer` the target is in seconds."""

    def __init__(self, work, title, ours, peer, target, generic=None):
        self.work, self.title, self.ours, self.peer, self.target = work, title, ours, peer, target
        self.generic = generic
        self.fault = None

    @property
    def sides(self):
        return [side for side in (self.ours, self.peer, self.generic) if side]


def sostenuto(program, patch, script=None, tap=None, threads=1, midi=None, period=BLOCK):
    """`midi`: a file, or a function that makes one of so many seconds."""
    def command(folder, seconds, output):
        music = midi
        if callable(midi):
            music = f"{patch}-{seconds:g}.mid"
            with open(os.path.join(folder, music), "wb") as file:
                file.write(midi(seconds))
        return [program, "render", os.path.join(folder, patch), "--seconds", f"{seconds:.9f}", "--period",
                str(period), "--threads", str(threads), *(["--script", script] if script else []),
                *(["--midi", music] if music else []),
                *(["--tap", f"{tap}={output}"] if tap else ["--output", output])]  # fmt: skip

    return command


def our_sides(program, name, samples):
    """By what the rows call them."""

    def kept(work):
        return os.path.join(patches.KEPT, work)

    def side(title, *arguments, tap=None, threads=1, midi=None, period=BLOCK, **options):
        command = sostenuto(program, *arguments, tap=tap, threads=threads, midi=midi, period=period)
        return Side(f"{name} {title}", command, **options)

    without = side("W3 without", "W3-without.patch", tap="ear", times=4)
    saws, matrix = OUR_SAW * saws_rms(), OUR_SAW * matrix_rms()
    return {
        "groups": side("W1", kept("W1.patch"), sounds=saws),
        "nodes": side("W1 nodes", "W1-nodes.patch", sounds=saws),
        "notes": side("W1 notes", "W1-notes.patch", "W1-notes.script", sounds=OUR_SAW * keys_rms(), times=8),
        **{f"nodes, {period}": side(f"W1 nodes, {period} frames", "W1-nodes.patch", sounds=saws, period=period) for period in PERIODS},
        "voices": side("W2", "W2.patch", "W2.script", sounds=AT_REST * voices_rms(samples)),
        "sinc": side("W2 sinc", "W2-sinc.patch", "W2.script", sounds=AT_REST * voices_rms(samples)),
        "stereo": side("W2 stereo", "W2-stereo.patch", "W2.script", sounds=STEREO),
        "fades": side("W2 fades", "W2-fades.patch", "W2.script", sounds=FADES),
        "release": side("W2 release", "W2-release.patch", midi=peers.released_notes, short=0.75, sounds=RELEASES),
        "layers": side("GM 4-point", "GM-4-point.patch", midi=peers.chord_of_layers, short=0.75, sounds=LAYERS),
        "layers, sinc": side("GM sinc", "GM-sinc.patch", midi=peers.chord_of_layers, short=0.75, sounds=LAYERS),
        "still": side("W2 filters", "W2-still.sf2.patch", "W2-filtered.script", sounds=STILL),
        "cutoffs": side("W2 cutoffs", "W2-moving.sf2.patch", "W2-filtered.script", sounds=MOVING),
        "many": side("W2 many", "W2-many.patch", "W2-many.script", short=0.25),
        "note-ons": side("W2 20 regions", "W2-few.patch", midi="notes.mid", sounds=NOTES),
        "note-ons of many": side("W2 4992 regions", "W2-many-regions.patch", midi="notes.mid", sounds=NOTES),
        "steady": side("W3", kept("W3.patch"), tap="ear", sounds=matrix, less=without, times=4),
        # The gains are mirrored in the end, and their mean stays.
        "moving": side("W3 moving", kept("W3.patch"), "moves.script", tap="ear", sounds=matrix, less=without, times=4),
        "gains": side("W4a", kept("W4a.patch"), sounds=chain_rms()),
        "low-passes": side("W4b", kept("W4b.patch"), sounds=chain_rms()),
        "start": side("W6 groups", kept("W1.patch"), sounds=saws, is_start=True),
        "start nodes": side("W6 nodes", "W1-nodes.patch", sounds=saws, is_start=True),
        "start many": side("W6", "W6.patch", sounds=matrix, is_start=True),
        "bank": side("SF2", "SF2.patch", "SF2.script", is_start=True),
        **threads("W7", "W7.patch", chain_rms(), side),
        **threads("W1", "W1-nodes.patch", saws, side),
    }  # fmt: skip


def threads(work, patch, sounds, side):
    """On one, two and four threads: what the clock on the wall says, and the time of all processors together."""
    return {
        f"{work} {what} {count}": side(f"{work} {count} threads, {what}", patch, sounds=sounds, threads=count, is_wall=what == "wall")
        for count in (1, 2, 4)
        for what in ("wall", "sum")
    }


def peer_sides(folder, samples):
    """Those that are installed, by name; and why others are left out, by program."""
    sides, absent = {}, {}

    def add(program, *added, because=None):
        if because or not (program == "sgemm" or shutil.which(program)):
            absent[program] = because or f"{program} is not installed (apt-get install {peers.PACKAGES[program]})"
        else:
            sides.update((side.name, side) for side in added)

    add("scsynth", Side("scsynth Saw", peers.scsynth, SCSYNTH_SAW * saws_rms()),
        Side("scsynth notes", peers.scsynth_keys, SCSYNTH_SAW * keys_rms(), times=8))  # fmt: skip
    peers.prepare_scsynth(folder)
    peers.prepare_fluidsynth(folder, samples)
    # It renders the notes' ends after the last of them: the shorter render has them too.
    add("fluidsynth",
        Side("FluidSynth", peers.fluidsynth("tone.sf2", peers.spread_notes(), 60), FLUIDSYNTH * voices_rms(samples), short=0.75),
        Side("FluidSynth filters", peers.filtered("still.sf2"), GAIN * STILL, short=0.75),
        Side("FluidSynth cutoffs", peers.filtered("moving.sf2"), GAIN * MOVING, short=0.75),
        Side("FluidSynth stereo", peers.fluidsynth("stereo.sf2", peers.spread_notes(), 60), GAIN * STEREO_BANK, short=0.75),
        Side("FluidSynth release", peers.fluidsynth_plays("released.sf2", peers.released_notes), GAIN * RELEASES, short=0.75))  # fmt: skip
    add("fluidsynth", Side("FluidSynth start", peers.fluidsynth(BANK, [(0, 60)], 100), is_start=True),
        Side("FluidSynth layers", peers.fluidsynth_plays(BANK, peers.chord_of_layers), GAIN * LAYERS, short=0.75),
        because=None if os.path.exists(BANK) else f"{BANK} is not there (apt-get install fluid-soundfont-gm)")  # fmt: skip
    python = peers.find_blas()
    add("sgemm", Side("sgemm", peers.sgemm(python), times=4),
        because=None if python else f"no numpy with OpenBLAS (apt-get install {peers.PACKAGES['sgemm']})")  # fmt: skip
    add("pd", Side("Pd gains", peers.pd_gains, chain_rms()),
        Side("Pd low-passes", peers.pd_low_passes, chain_rms()))  # fmt: skip
    add("csound", Side("Csound start", peers.csound, saws_rms(), is_start=True))
    return sides, absent


# How loud a full-scale saw of scsynth's is beside one from -1 to 1, and FluidSynth's voices beside ours.
SCSYNTH_SAW = 0.508
# Ours has its overshoots within the level.
OUR_SAW = 0.8653
FLUIDSYNTH = 0.97
# What 128 voices with filters come to, of which FluidSynth is asked for a tenth.
STILL, MOVING = 0.729, 0.729
# The stereo voices, ours and the bank's; loops with fades; notes in their release; the chord of layers.
STEREO, STEREO_BANK, FADES, RELEASES, LAYERS = 0.0594, 0.932, 0.0593, 0.0383, 0.2441
# What 20,000 short notes a second come to.
NOTES = 0.042
GAIN = 0.1
# Other periods than 64, and how many blocks there are for each of those: parts of blocks end where cells of 64 frames do.
PERIODS = {32: 2, 48: 2, 100: 1.6, 16: 4}


def rows(ours, peer, generic):
    def row(work, title, key, peer_name, target):
        return Row(work, title, ours[key], peer.get(peer_name), target, generic.get(key))

    return [
        row("W1", "256 saws, low-passes, gains: 768 nodes", "nodes", "scsynth Saw", 0.25),
        row("W1", "sixteen notes of a polyphonic patch", "notes", "scsynth notes", 0.25),
        row("W1", "the same as 4 groups of 64 channels", "groups", "scsynth Saw", 0.25),
        # A part of a block costs what a whole one does, at most.
        *(Row("W1", f"768 nodes, {period} frames a period beside 64", ours[f"nodes, {period}"], ours["nodes"], target,
              generic.get(f"nodes, {period}")) for period, target in PERIODS.items()),
        row("W2", "128 sampled voices", "voices", "FluidSynth", 0.4),
        row("W2", "the same by sinc, beside 4 points", "sinc", "FluidSynth", 1),
        row("W2", "the same of a stereo sample", "stereo", "FluidSynth stereo", 0.4),
        row("W2", "the same, loops with fades", "fades", "FluidSynth", 0.4),
        row("W2", "240 notes a second, released", "release", "FluidSynth release", 0.4),
        *([row("W2", "General MIDI chord of layers", "layers", "FluidSynth layers", 0.4),
           row("W2", "the same by sinc, beside 4 points", "layers, sinc", "FluidSynth layers", 1)] if os.path.exists(BANK) else []),
        row("W2", "the same, each with a filter", "still", "FluidSynth filters", 0.4),
        row("W2", "the same, each cutoff moves", "cutoffs", "FluidSynth cutoffs", 0.4),
        Row("W2", "1000 voices with filters", ours["many"], None, 1, generic.get("many")),
        Row("W2", "20,000 note-ons: 4992 regions, and 20", ours["note-ons of many"], ours["note-ons"], 2, generic.get("note-ons of many")),
        row("W3", "64x64 matrix, steady", "steady", "sgemm", 1.3),
        row("W3", "the same, every gain moves", "moving", "sgemm", 2),
        row("W4", "1000 gains around 0 dB in series", "gains", "Pd gains", 1),
        row("W4", "1000 low-passes in series", "low-passes", "Pd low-passes", 1),
        row("W6", "start: W1's patch, 4 groups", "start", "Csound start", 1),
        row("W6", "the same as 768 nodes", "start nodes", "Csound start", 1),
        Row("W6", "start: 12,500 nodes", ours["start many"], None, 0.25, generic.get("start many")),
        *([row("SF2", "start: a bank of 140 MB", "bank", "FluidSynth start", 1)] if os.path.exists(BANK) else []),
        *(Row("W7", f"{title}, {count} threads", ours[f"{work} {what} {count}"], ours[f"{work} {what} 1"], target,
              generic.get(f"{work} {what} {count}"))
          for work, title, count, what, target in (
              ("W7", "two branches", 2, "wall", 0.6), ("W7", "two branches", 4, "wall", 0.6),
              ("W7", "processor time of two branches", 2, "sum", 1.2), ("W7", "processor time of two branches", 4, "sum", 1.4),
              ("W1", "W1 as nodes", 2, "wall", 1.03), ("W1", "W1 as nodes", 4, "wall", 1.03),
              ("W1", "processor time of W1 as nodes", 2, "sum", 1.2), ("W1", "processor time of W1 as nodes", 4, "sum", 1.4))),
    ]


def figure(side):
    return f"{median(side.figures):.5f} ±{100 * spread(side.figures) / 2:2.0f}%" if side and side.figures else "-"


def table(rows):
    layout = "{:3} {:38} {:>13} {:14} {:>13} {:>6} {:>7} {:4} {}"
    print(layout.format("", "work", "ours", "peer", "peer's", "ratio", "target", "met", "generic"))
    for row in rows:
        if row.fault:
            print(f"{row.work:3} {row.title:38} {row.fault}")
            continue
        ours = median(row.ours.figures)
        generic = median(row.generic.figures) if row.generic else None
        cells = ["", "", "", f"{row.target:g}", "", ""]
        if row.peer:
            theirs = median(row.peer.figures)
            cells = [row.peer.name, figure(row.peer), f"{ours / theirs:.2f}", f"{row.target:g}",
                     "yes" if ours / theirs <= row.target else "no",
                     f"{generic / theirs:.2f}" if generic else ""]  # fmt: skip
        else:
            cells[3:] = [f"{row.target:g} s", "yes" if ours <= row.target else "no",
                         f"{generic:.3f} s" if generic else ""]  # fmt: skip
        print(layout.format(row.work, row.title, figure(row.ours), *cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--generic", help="a build for no particular processor")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--only", action="append", default=[], help="a work, such as W1")
    parser.add_argument("--json", help="the single figures, to this file")
    options = parser.parse_args()

    folder = os.path.realpath(WORK)
    # The gains travel as long as the longest render is.
    samples = patches.write_others(folder, 4 * options.seconds + 1)
    ours = our_sides(os.path.realpath(options.program), "ours", samples)
    generic = {}
    if options.generic:
        generic = our_sides(os.path.realpath(options.generic), "generic", samples)
    theirs, absent = peer_sides(folder, samples)
    for reason in absent.values():
        print("left out:", reason, file=sys.stderr)
    todo = [row for row in rows(ours, theirs, generic) if not options.only or row.work in options.only]

    faults = {}
    for side in dict.fromkeys(side for row in todo for side in row.sides):
        print("listening to", side.name, file=sys.stderr)
        faults[side] = side.check(folder)
    for row in todo:
        row.fault = next((f"{side.name}: {faults[side]}" for side in row.sides if faults[side]), None)

    # In turns, so that what else runs on the machine meets all of them.
    sides = list(dict.fromkeys(side for row in todo if not row.fault for side in row.sides))
    for turn in range(options.repeat):
        print(f"turn {turn + 1} of {options.repeat}", file=sys.stderr)
        for side in sides:
            # Memory that lay idle meanwhile may have to be got from the host of a virtual machine first.
            if side.is_start:
                side.measure(folder, options.seconds)
            for _ in range(3 if side.is_start else 1):
                side.take(folder, options.seconds)

    print(f"{options.repeat} turns of {options.seconds:g} s at {RATE} Hz in blocks of {BLOCK} frames, one thread but for W7;")
    print("user CPU seconds per second of sound, W6, SF2 and W7 wall seconds: medians and half the quartiles' distance")
    table(todo)
    load = " ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({side.name: side.figures for side in sides}, file, indent=1)
    sys.exit(1 if any(row.fault for row in todo) else 0)


if __name__ == "__main__":
    main()
