#!/usr/bin/env python3
"""Every kind in many forms, beside the nearest of scsynth, Csound, Pd and LV2 plug-ins, in the same run.

    kinds.py PROGRAM [--only KIND]… [--quick] [--repeat 5] [--worth 0.3] [--table FILE]

The figure is nanoseconds of CPU for a block of 64 frames and channel at 48 kHz, offline, on one thread: of a render less
a short one, so that the start is not in it. The render is so long that it costs ours `--worth` seconds, but a minute of
sound at most. `ratio` is ours over the best peer's; what is above 1 is marked. `--quick` takes one turn of a tenth of a
second. `--table` keeps the figures as tab-separated values, to be compared with another run's.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from forms import BLOCK, PARALLEL, PROGRAMS, RATE, SERIES, SIDE_BY_SIDE, WRITERS, Work, write_ours
from measure import Failure, median, read_wav, run
from patches import instrument
from plugins import PLUGINS
from works import *
from workloads import sample, write_wav

OURS = "ours"
SHORT = 0.5
# The shortest and the longest render, in seconds of sound.
TRIAL = 3
LONGEST = 60
# What a peer may cost, in times of ours, before it plays for a shorter time.
DEAR = 10

# Each kind has its works (`works`); a test reads the names.
KINDS = {
    "keyboard": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=200),),
    "midi": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=100),),
    "midiout": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=16),),
    "oscillator": (*waves(),),
    "noise": (*noises(),),
    "input": (Work("at rest", lambda n, c: f"channels={c}", forms=SIDE_BY_SIDE, widths=(1, 2), sources=0, total=200),),
    "output": (Work("of a tone", lambda n, c: f"channels={c}", forms=SIDE_BY_SIDE, channels=-1, widths=(1, 2), total=200),),
    "client": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=100),),
    "gain": (*GAINS,),
    "pan": (*PANS,),
    "mix": (*MIXES,),
    "matrix": (*MATRICES,),
    "filter": (*FILTERS,),
    "equalizer": (*EQUALIZERS,),
    "distortion": (*DISTORTIONS,),
    "delay": (*DELAYS,),
    "sampler": (*SAMPLERS,),
    "player": (*PLAYERS,),
    "ringmod": (*RINGS,),
    "compressor": (*COMPRESSORS,),
    "gate": (*GATES,),
    "limiter": (*LIMITERS,),
    "reverb": (*REVERBS,),
    "chorus": (*CHORUSES,),
    "flanger": (*FLANGERS,),
    "phaser": (*PHASERS,),
    "ladder": (*LADDERS,),
    "svf": (*STATE_VARIABLES,),
    "crossover": (*CROSSOVERS,),
    "freqshift": (*SHIFTERS,),
    "bitcrusher": (*CRUSHERS,),
    "waveshaper": (*SHAPERS,),
    "expander": (*EXPANDERS,),
    "transient": (*TRANSIENTS,),
    "convolution": (*CONVOLUTIONS,),
    "exciter": (*EXCITERS,),
    "echo": (*ECHOES,),
    "pitchshift": (*PITCHSHIFTS,),
    "looper": (*LOOPERS,),
    "constant": (*CONSTANTS,),
    "lfo": (*LFOS,),
    "add": (*ADDS,),
    "multiply": (*PRODUCTS,),
    "crossfade": (*CROSSFADES,),
    "envelope": (*ENVELOPES,),
    "voices": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=64),),
    "mixdown": (*MIXDOWNS,),
    "wavetable": (*WAVETABLES,),
    "fm": (*FMS,),
    "string": (*STRINGS,),
    "supersaw": (*SUPERSAWS,),
    "additive": (*ADDITIVES,),
    "modal": (*MODALS,),
    "drum": (*DRUMS,),
    "chaos": (*CHAOSES,),
    "dust": (*DUSTS,),
    "granular": (*GRANULARS,),
    "slew": (*SLEWS,),
    "samplehold": (*HOLDS,),
    "follower": (*FOLLOWERS,),
    "comparator": (*COMPARATORS,),
    "logic": (*LOGICS,),
    "random": (*RANDOMS,),
    "clock": (*CLOCKS,),
    "divider": (*DIVIDERS,),
    "euclid": (Work("own beat", "note=free rate=8Hz", forms=SIDE_BY_SIDE, widths=(1,), sources=0, total=64),),
    "quantizer": (*QUANTIZERS,),
    "sequencer": (*SEQUENCERS,),
    "arpeggiator": (Work("no keys", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=64),),
    "chord": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=100),),
    "scale": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=100),),
    "velocity": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=100),),
    "expr": (*FORMULAS,),
    "meter": (*METERS,),
    "scope": (Work("passing", total=256),),
    "spectrum": (Work("passing", total=256),),
    "loudness": (Work("passing", total=64),),
    "pitchfollower": (*PITCHES,),
    "tuner": (*TUNERS,),
    "transport": (Work("rolling", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=64),),
    "patch": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=200),),
    "inlet": (*MIXES,),
    "outlet": (*MIXES,),
    "eventin": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=200),),
    "eventout": (Work("at rest", forms=SIDE_BY_SIDE, widths=(1,), sources=0, channels=-1, total=200),),
    "record": (Work("at rest, no take", total=256),),
}


class Row:
    """A work in one form, and what each program's nodes cost at it."""

    def __init__(self, kind, work, width, form):
        self.kind, self.work, self.width, self.form = kind, work, width, form
        self.nodes = work.count(width)
        self.units = work.events or self.nodes * width
        self.commands, self.figures, self.fault = {}, {}, None

    @property
    def name(self):
        return f"{self.kind}: {self.work.title}"

    def write(self, program, folder, installed):
        form = self.work, self.width, self.form, self.nodes
        self.commands[OURS] = write_ours(program, folder, self.kind, "ours", *form)
        plugins = PLUGINS.get(self.name, ())
        peers = dict(self.work.peers, LV2=next((side for side in plugins if self.width % side.channels == 0), None))
        for peer, side in peers.items():
            if side and peer in installed and self.form in getattr(side, "forms", (SERIES, PARALLEL)):
                self.commands[peer] = WRITERS[peer](folder, peer.lower(), side, *form)

    def seconds(self, folder, worth):
        """The length of sound that costs ours `worth` seconds of CPU."""
        output = f"{folder}/{OURS}.wav"
        short, long = (run(self.commands[OURS](seconds, output), folder)[2] for seconds in (SHORT, SHORT + TRIAL))
        return min(max(worth / max(long - short, 1e-4) * TRIAL, TRIAL), LONGEST)

    def measure(self, folder, sound, worth):
        """One turn of that many seconds of sound. A peer that is silent, or fails, is left out with a word."""
        for side, command in list(self.commands.items()):
            output, seconds = f"{folder}/{side.lower()}.wav", sound
            try:
                short = run(command(SHORT, output), folder)[2]
                if side != OURS and seconds > DEAR * TRIAL:
                    # A spectrum's window costs a thousand times as much as a node that passes its sound.
                    trial = run(command(SHORT + TRIAL, output), folder)[2] - short
                    seconds = min(seconds, max(TRIAL, DEAR * worth / max(trial, 1e-4) * TRIAL))
                long = run(command(SHORT + seconds, output), folder)[2]
                if not self.figures.get(side) and self.work.outputs(self.width) > 0 and self.kind != "input":
                    try:
                        listen(output)
                    except (Failure, OSError):
                        # Pd does not wait for the thread that writes, so quick work may end before the file has a sound.
                        run(command(LONGEST, output), folder)
                        listen(output)
            except (Failure, OSError) as failure:
                del self.commands[side]
                self.fault = "; ".join(filter(None, (self.fault, f"{side}: {failure}")))
                continue
            self.figures.setdefault(side, []).append((long - short) * 1e9 * BLOCK / RATE / seconds / self.units)

    def figure(self, side):
        return median(self.figures[side]) if self.figures.get(side) else None

    @property
    def best(self):
        """The cheapest peer, by name."""
        # What is next to nothing beside a long start may come out below it.
        return min((side for side in self.figures if side != OURS and self.figure(side) > 0), key=self.figure, default=None)

    @property
    def ratio(self):
        if self.best and self.figures.get(OURS):
            return self.figure(OURS) / self.figure(self.best)


def listen(path):
    """Refuses silence, and numbers that are none."""
    ends = [channel[len(channel) // 2 :] for channel in read_wav(path)]
    if not any(abs(x) > 1e-9 for end in ends for x in end) or any(x != x for end in ends for x in end):
        raise Failure("silent, or no sound")


def write_sounds(folder):
    """What samplers and players play."""
    samples = sample()
    write_wav(f"{folder}/sample.wav", samples)
    write_wav(f"{folder}/stereo.wav", samples, samples[1000:] + samples[:1000])
    with open(f"{folder}/voices.sfz", "w") as file:
        file.write(instrument())


def rows(options):
    for kind, works in KINDS.items():
        if options.only and kind not in options.only:
            continue
        for work in works:
            for width in work.widths:
                for form in work.forms:
                    row = Row(kind, work, width, form)
                    # One node of 64 channels is both.
                    if row.nodes > 1 or form == PARALLEL:
                        yield row


def without_row(program):
    """Kinds of the program that nobody measures."""
    listed = json.loads(subprocess.run([program, "kinds", "--json"], capture_output=True, check=True).stdout)
    return [kind["name"] for kind in listed if kind["name"] not in KINDS]


LAYOUT = "{:46} {:>4} {:8} {:>8} {:>9} {:>9} {:>9} {:>9}  {}"


def line(row):
    def cell(side):
        return f"{row.figure(side):.2f}" if row.figure(side) is not None else "-"

    verdict = f"{row.ratio:5.2f}{' over' if row.ratio > 1 else ''}" if row.ratio is not None else "    -"
    return LAYOUT.format(row.name, row.width, row.form, *map(cell, (OURS, *PROGRAMS)), verdict + (f"  ({row.fault})" if row.fault else ""))


def summary(measured):
    ratios = [row.ratio for row in measured if row.ratio is not None]
    if ratios:
        over = sum(ratio > 1 for ratio in ratios)
        return f"{len(ratios)} rows beside a peer: median {median(ratios):.2f}, highest {max(ratios):.2f}, {over} over 1"
    return "no row has a peer"


def keep(path, measured):
    with open(path, "w") as file:
        print("work", "channels", "form", OURS, *PROGRAMS, "ratio", sep="\t", file=file)
        for row in measured:
            figures = [row.figure(side) for side in (OURS, *PROGRAMS)] + [row.ratio]
            print(row.name, row.width, row.form, *("" if f is None else f"{f:.4g}" for f in figures), sep="\t", file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", action="append", default=[], help="a kind, such as filter")
    parser.add_argument("--quick", action="store_true", help="one short turn")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--worth", type=float, default=0.3, help="CPU seconds that a render of ours shall take")
    parser.add_argument("--table", help="the figures, to this file")
    options = parser.parse_args()
    if options.quick:
        options.repeat, options.worth = 1, 0.1
    program = os.path.realpath(options.program)
    if missing := without_row(program):
        sys.exit(f"no row in kinds.py: {', '.join(missing)}")
    if unknown := PLUGINS.keys() - {f"{kind}: {work.title}" for kind, works in KINDS.items() for work in works}:
        sys.exit(f"no such work, of plugins.py: {', '.join(sorted(unknown))}")
    installed = [peer for peer, command in PROGRAMS.items() if shutil.which(command)]
    for peer in PROGRAMS:
        if peer not in installed:
            how = "Benchmarks/README.md" if peer != "LV2" else "`make bench-kinds` builds .build-bench/lv2host with liblilv-dev"
            print(f"left out: {peer} is not installed ({how})", file=sys.stderr)

    print(f"medians of {options.repeat} turns of {options.worth:g} s of our CPU at {RATE} Hz; nanoseconds a block of {BLOCK} frames and channel, or voice")
    print(LAYOUT.format("work", "ch", "form", OURS, *PROGRAMS, "ours / best"))
    measured, failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        write_sounds(folder)
        for row in rows(options):
            row.write(program, folder, installed)
            # In turns, so that what else runs on the machine meets all of them.
            try:
                seconds = row.seconds(folder, options.worth)
            except Failure as failure:
                failures.append(f"{row.name}, {row.width} channels, {row.form}: {failure}")
                continue
            for _ in range(options.repeat):
                row.measure(folder, seconds, options.worth)
            measured.append(row)
            print(line(row), flush=True)
            # A row without our figure would be missing from the summary, and no one would notice.
            if not row.figures.get(OURS):
                failures.append(f"{row.name}, {row.width} channels, {row.form}: {row.fault}")
    print(summary(measured))
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")
    if options.table:
        keep(options.table, measured)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
