"""A work of `make bench-kinds` in each of its forms, as ours and every peer's: many nodes of it side by side or in
series, of one, two or sixty-four channels, over the same sines.

A peer's side of a work is a function of its graph, the node's inputs (one signal a channel), the moving parameter (one
signal for all nodes) and the node's number; it returns the node's outputs. Each peer gets its cheapest form: one
definition, instrument or canvas with all of the nodes in it.
"""
import math
import os

from peers import PdPatch, osc, score
from synthdef import SynthDef
from workloads import BLOCK, RATE, decibels

SERIES, PARALLEL = "series", "parallel"
# What moves a parameter.
MOVING_FREQ = 3.1
TONE = 0.002


def tone_freq(source, channel):
    return 110 * 2 ** ((7 * channel + 5 * source) % 24 / 24)


class Work:
    """A kind with certain settings, and what the peers take for it."""

    def __init__(self, title, settings="", moved=None, at=None, widths=(1, 2, 64), forms=(SERIES, PARALLEL), total=1024,
                 sources=1, into=None, channels=None, lines=None, events=None, scsynth=None, csound=None, pd=None):  # fmt: skip
        """`settings`: text, or a function of the node's number and its channels. `moved`: the ports that a sine moves,
        the value in its middle and how far it goes; `at`: those two for the peers where they differ. `total`: channels
        of all nodes. `sources`: cables into each node, none for a node without input. `into`: the port of all cables but the
        first, where it is another one. `channels`: outputs of a node where they are not its inputs. `lines`: more of a node's paragraph. `events`: how many notes each node holds."""
        self.title, self.widths, self.forms, self.total = title, widths, forms, total
        self.settings = settings if callable(settings) else lambda number, channels: settings
        self.moved, self.at = moved, at or (moved and moved[1:])
        self.sources, self.into, self.channels, self.lines, self.events = sources, into, channels, lines, events
        self.peers = {"scsynth": scsynth, "Csound": csound, "Pd": pd}

    def count(self, width):
        return 1 if self.events else max(1, self.total // width)

    def outputs(self, width):
        return self.channels or width


SIDE_BY_SIDE = (PARALLEL,)


def frequencies(number, channels):
    return "freq=[" + ",".join(f"{frequency(number, c):.3f}Hz" for c in range(channels)) + "]"


def frequency(number, channel):
    """Of sources that no cable moves."""
    return 110 * 2 ** ((number * 7 + channel * 3) % 61 / 12)


def each(function):
    """A peer's side that treats channels alike."""
    return lambda graph, inputs, moving, number: [function(graph, x, moving, number) for x in inputs]


def alone(side):
    """A peer's side of which a series ends in silence."""
    side.forms = (PARALLEL,)
    return side


# --- Ours


def our_patch(kind, work, width, form, count):
    lines = ["sostenuto 1", "", "node keys keyboard", "", "node lfo oscillator freq=3.1Hz level=0dB", ""]
    for source in range(max(1, work.sources)):
        frequencies = ",".join(f"{tone_freq(source, c):.3f}Hz" for c in range(width))
        lines += [f"node tone{source} oscillator freq=[{frequencies}] level={decibels(TONE)} channels={width}", ""]
    ends = []
    last = "tone0"
    for i in range(count):
        lines.append(f"node n{i} {kind} {work.settings(i, width)}".rstrip())
        if work.sources:
            lines.append(f"connect {last if form == SERIES else 'tone0'} -> n{i}")
            port = f".{work.into}" if work.into else ""
            lines += [f"connect tone{source} -> n{i}{port}" for source in range(1, work.sources)]
        if work.events is not None:
            lines.append(f"connect keys -> n{i}")
        if work.lines:
            lines += work.lines(f"n{i}", i, width)
        if work.moved:
            ports, _, amount = work.moved
            lines += [f"connect lfo -> n{i}.{port} gain={decibels(amount)}" for port in ports]
        lines.append("")
        last = f"n{i}"
        ends.append(last)
    if work.outputs(width) > 0:
        heard = " map=[0,1]" if work.outputs(width) > 2 else ""
        lines.append("node end output")
        lines += [f"connect {end} -> end{heard}" for end in ([last] if form == SERIES else ends)]
    return "\n".join(lines) + "\n"


# --- The peers' graphs: a tone, the signal that moves, the sum of what is heard.


class Graph:
    def build(self, side, work, width, form, count):
        """Adds the nodes, and returns the two sums that are heard."""
        moving = self.moving(*work.at) if work.at else None
        tones = [[self.tone(tone_freq(s, c)) for c in range(width)] for s in range(max(1, work.sources))]
        inputs = [signal for tone in tones for signal in tone] if work.sources else list(range(width))
        sums = [[], []]
        for number in range(count):
            outputs = side(self, inputs, moving, number)
            if form == SERIES:
                inputs = outputs + inputs[len(outputs):]
            else:
                for place, signal in enumerate(outputs[:2]):
                    sums[place].append(signal)
                    self.fold(sums[place])
        return [outputs[:1], outputs[1:2]] if form == SERIES else sums

    def fold(self, sum):
        """May replace the summands by their sum."""


class Scsynth(Graph, SynthDef):
    def tone(self, freq):
        return self.mul(self.unit("SinOsc", freq, 0), TONE)

    def moving(self, centre, amount):
        return self.unit("MulAdd", self.unit("SinOsc", MOVING_FREQ, 0), amount, centre)

    def mul(self, a, b):
        return self.binary("*", a, b)

    def mul_add(self, a, b, c):
        return self.unit("MulAdd", a, b, c)

    def fold(self, sum):
        if len(sum) == 4:
            sum[:] = [self.unit("Sum4", *sum)]

    def steady(self, value):
        """A signal, where a unit wants all of its inputs to be some."""
        if not hasattr(self, "known"):
            self.known = {}
        if value not in self.known:
            self.known[value] = self.unit("DC", value)
        return self.known[value]


class Csound(Graph):
    """Names are used again, so that their memory stays near."""

    def __init__(self, width):
        self.lines, self.ring, self.next, self.fixed = [], 32 * max(width, 2), 0, 0

    def a(self, text, outputs=1):
        names = []
        for _ in range(outputs):
            self.next = (self.next + 1) % self.ring
            names.append(f"a{self.next}")
        self.lines.append(f"{', '.join(names)} {text}")
        return names[0] if outputs == 1 else names

    def kept(self, text, letter="a", outputs=1, others=None):
        """The first of some outputs; `others`: the letter of the others."""
        self.fixed += 1
        name = f"{letter}Kept{self.fixed}"
        more = "".join(f", {others or letter}More{number}" for number in range(1, outputs))
        self.lines.append(f"{name}{more} {text}")
        return name

    def tone(self, freq):
        return self.kept(f"oscili {TONE}, {freq:.3f}")

    def moving(self, centre, amount):
        sine = self.kept(f"oscili {amount}, {MOVING_FREQ}")
        self.wave = self.kept(f"= {sine} + {centre}")
        # For what moves at the control rate only.
        self.slow = self.kept(f"downsamp {self.wave}", "k")
        return self.wave

    def fold(self, sum):
        if len(sum) == 4:
            if sum[0].startswith("aKept"):
                self.lines.append(f"{sum[0]} = {' + '.join(sum)}")
            else:
                sum[0] = self.kept(f"= {' + '.join(sum)}")
            del sum[1:]


class Pd(Graph, PdPatch):
    def obj(self, text, *inputs):
        """The object's first outlet; an input is a signal, several, or none."""
        cords = []
        for inlet, signals in enumerate(inputs):
            if signals is not None:
                cords += [(*signal, inlet) for signal in (signals if isinstance(signals, list) else [signals])]
        return self.add(text, *cords), 0

    def tone(self, freq):
        return self.obj(f"*~ {TONE}", self.obj(f"osc~ {freq:.3f}"))

    def moving(self, centre, amount):
        return self.obj(f"+~ {centre}", self.obj(f"*~ {amount}", self.obj(f"osc~ {MOVING_FREQ}")))


# --- Their files and command lines


def write_scsynth(folder, name, side, work, width, form, count):
    graph = Scsynth(name[:20])
    left, right = graph.build(side, work, width, form, count)
    for signals in (left, right):
        while len(signals) > 1:
            signals[:2] = [graph.binary("+", *signals[:2])]
    silent = graph.steady(0)
    graph.unit("Out", 0, (left or [silent])[0], (right or [silent])[0], outputs=0)
    graph.write(f"{folder}/{name}.scsyndef")
    files = [osc("/b_allocRead", number, f"{folder}/{sound}") for number, sound in enumerate(("sample.wav", "stereo.wav"))]
    start = files + [osc("/d_load", f"{folder}/{name}.scsyndef"), osc("/s_new", name[:20], 1000, 1, 0)]

    def command(seconds, output):
        path = f"{folder}/{name}-{seconds:g}.osc"
        with open(path, "wb") as file:
            file.write(score(0, start) + score(seconds, [osc("/c_set", 0, 0)]))
        return ["scsynth", "-D", "0", "-V", "-1", "-o", "2", "-z", str(BLOCK), "-w", "8192", "-m", "1048576",
                "-N", path, "_", output, str(RATE), "WAV", "float"]  # fmt: skip

    return command


def write_csound(folder, name, side, work, width, form, count):
    graph = Csound(width)
    left, right = graph.build(side, work, width, form, count)
    body = "\n".join(graph.lines)
    tables = "".join(
        f'gi{number} ftgen {number}, 0, 0, -1, "{folder}/{sound}", 0, 0, {channel}\n'
        for number, (sound, channel) in enumerate((("sample.wav", 1), ("stereo.wav", 1), ("stereo.wav", 2)), 1)
    )
    with open(f"{folder}/{name}.csd", "w") as file:
        file.write(
            f"<CsoundSynthesizer>\n<CsInstruments>\nsr = {RATE}\nksmps = {BLOCK}\nnchnls = 2\n0dbfs = 1\n{tables}"
            f"instr 1\n{body}\nouts {' + '.join(left) or 'a(0)'}, {' + '.join(right) or 'a(0)'}\nendin\n"
            "</CsInstruments>\n<CsScore>\ni1 0 $SECONDS\ne\n</CsScore>\n</CsoundSynthesizer>\n"
        )

    def command(seconds, output):
        return ["csound", "-d", "-m0", "-j1", "-W", "-f", "-o", output, f"--smacro:SECONDS={seconds:.7f}",
                f"{folder}/{name}.csd"]  # fmt: skip

    return command


def write_pd(folder, name, side, work, width, form, count):
    graph = Pd()
    output = f"{folder}/{name}.wav"
    start = graph.add("t f b", (graph.add("r go"), 0, 0))
    graph.add(f"table sample {2 * RATE + 3}")
    graph.add("soundfiler", (graph.add(f"read -resize {folder}/sample.wav sample", (graph.add("loadbang"), 0, 0), kind="msg"), 0, 0))
    left, right = graph.build(side, work, width, form, count)
    end = graph.add("t b b", (graph.add("delay", (start, 0, 0)), 0, 0))
    opening = graph.add(f"open -wave -bytes 4 {output} \\, start", (start, 1, 0), kind="msg")
    closing = graph.add("stop", (end, 1, 0), kind="msg")
    cords = [(*signal, place) for place, signals in enumerate((left, right)) for signal in signals]
    graph.add("writesf~ 2", (opening, 0, 0), (closing, 0, 0), *cords)
    graph.add("\\; pd dsp 1", (start, 1, 0), kind="msg")
    graph.add("\\; pd quit", (graph.add("delay 100", (end, 0, 0)), 0, 0), kind="msg")
    with open(f"{folder}/{name}.pd", "w") as file:
        file.write(graph.text())

    def command(seconds, _):
        return ["pd", "-nogui", "-batch", "-noprefs", "-nomidi", "-r", str(RATE), "-open", f"{folder}/{name}.pd",
                "-send", f"go {seconds * 1000:g}"]  # fmt: skip

    return command


def write_lv2(folder, name, side, work, width, form, count):
    """`side`: what `plugin` returned (`plugins.py`), which `lv2host.c` plays."""
    lines = [f"plugin {side.uri}", f"count {count}", f"series {int(form == SERIES)}", f"level {side.level}"]
    lines += [f"set {symbol} {value:.9g}" for symbol, value in side.settings.items()]
    if side.moved:
        lines.append(f"move {' '.join(map(str, side.moved))}")
    lines.append("tone " + " ".join(f"{tone_freq(0, c):.3f}" for c in range(width)))
    with open(f"{folder}/{name}.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
    return lambda seconds, output: [PROGRAMS["LV2"], f"{folder}/{name}.txt", f"{seconds:g}", output]


WRITERS = {"scsynth": write_scsynth, "Csound": write_csound, "Pd": write_pd, "LV2": write_lv2}
LV2_HOST = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".build-bench", "lv2host")
PROGRAMS = {"scsynth": "scsynth", "Csound": "csound", "Pd": "pd", "LV2": LV2_HOST}


def write_ours(program, folder, kind, name, work, width, form, count):
    with open(f"{folder}/{name}.patch", "w") as file:
        file.write(our_patch(kind, work, width, form, count))
    with open(f"{folder}/{name}.script", "w") as file:
        file.write("".join(f"at 0s note keys on {key % 128} 90\n" for key in range(work.events or 0)))
    return lambda seconds, output: [
        program, "render", f"{name}.patch", "--seconds", f"{seconds:.9f}", "--period", str(BLOCK), "--threads", "1",
        "--script", f"{name}.script", "--output", output]  # fmt: skip
