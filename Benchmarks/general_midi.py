#!/usr/bin/env python3
"""A General MIDI file rendered by us and by FluidSynth from the same bank, compared note by note.

    general_midi.py SOSTENUTO [--bank BANK.sf2] [--check] [--keep FOLDER]

Notes of several programs, drums among them, each by itself; no reverb and no chorus on either side. For
each note: how much later we begin (ms), how much higher we are (cents), how much louder (dB), and how
much longer our attack, decay and release take (%). With --check the exit status says whether all are
within the targets.

- Onset: how far the first 40 ms have to be moved to fit best. FluidSynth's player hands notes over a block of
  64 frames (1.33 ms) after their time, which is taken off.
- Pitch: how fast the phase between the two sounds moves at the note's strongest partial.
- Level: the mean power while the key is down; of drums, of the whole note.
- Layers that beat against each other have no one pitch, and where a beat stands hangs on the thousandth of a
  turn: such programs are measured layer by layer, each with the others' zones taken out of the bank.
  FluidSynth counts pitch in whole cents and cuts what is behind the point, so that it may be 1 cent low.
- Some notes have offsets of a bank's generators before them, which unregistered parameters state.
- Attack: by how much the envelope's rise delays it. Decay and release: the time until the energy that is
  still to come has fallen by 10 dB while the key is down, by 20 dB after it. What is too short or too shallow
  to tell is left out.
"""
import argparse
import bisect
import cmath
import itertools
import math
import operator
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from measure import Failure, read_wav

RATE = 48000
HERE = os.path.dirname(os.path.abspath(__file__))
PATCH = os.path.join(HERE, "..", "Patches", "setups", "general-midi.patch")
BANK_OF_PATCH = "/usr/share/sounds/sf2/default-GM.sf2"
# Its `main` has -12 dB.
GAIN = 10 ** (-12 / 20)

# FluidSynth's player looks at the time once in 64 frames: multiples of a tenth of a second are multiples
# of that as well. The key is down for HELD of a note's SLOT.
START, SLOT, HELD = 0.5, 3.0, 1.2
# Channel (10 has the drums), program, key, velocity.
NOTES = [
    (1, 0, 60, 100), (1, 0, 36, 64), (2, 4, 57, 90), (3, 12, 72, 110), (4, 19, 48, 80), (5, 24, 64, 100),
    (6, 33, 36, 120), (7, 71, 67, 70), (8, 11, 60, 100), (9, 56, 65, 127), (11, 65, 58, 90), (12, 73, 79, 80),
    (13, 80, 69, 100), (14, 88, 55, 100), (15, 61, 62, 40), (16, 105, 50, 100),
    (10, 0, 36, 110), (10, 0, 38, 100), (10, 0, 42, 90), (10, 0, 49, 120),
]  # fmt: skip
# The same with offsets of generators, by number and steps of data entry (SoundFont 2.01, chapter 9.6), one a channel.
# The last one speaks to another parameter, of which neither side knows anything.
OFFSETS = [
    ("cutoff", (1, 0, 60, 100), 120, 8, -1200), ("cutoff", (2, 80, 57, 100), 120, 8, -2500),
    ("attenuation", (3, 19, 60, 100), 120, 48, 90), ("cents", (4, 73, 72, 100), 120, 52, 37),
    ("semitones", (5, 71, 67, 90), 120, 51, -5), ("attack", (6, 19, 55, 100), 120, 34, 3800),
    ("release", (7, 80, 64, 100), 120, 38, 1500), ("decay", (8, 0, 48, 100), 120, 36, -600),
    ("another", (9, 56, 65, 110), 1, 33, 2000),
]  # fmt: skip
# The same of programs of which the layers beat.
LAYERED = [(1, 48, 60, 100), (1, 52, 60, 100)]
NAMES = {
    0: "piano", 4: "e-piano", 11: "vibraphone", 12: "marimba", 19: "organ", 24: "guitar", 33: "bass",
    48: "strings", 52: "choir", 56: "trumpet", 61: "brass", 65: "sax", 71: "clarinet", 73: "flute", 80: "square",
    88: "pad", 105: "banjo",
}  # fmt: skip
TARGETS = {"onset": 1.0, "pitch": 1.0, "level": 1.0, "attack": 5.0, "decay": 5.0, "release": 5.0}
UNITS = {"onset": "ms", "pitch": "cents", "level": "dB", "attack": "%", "decay": "%", "release": "%"}
HOP, WINDOW = 48, 960
BLOCK = 64
SHORTEST = 0.05


class Bank:
    """So much of a SoundFont bank as tells the zones that a note sounds."""

    INSTRUMENT, KEYS, VELOCITIES, SAMPLE, MOD_ENV_TO_PITCH = 41, 43, 44, 53, 7

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.chunks = {}
        self.read(12, len(self.data))

    def read(self, position, end):
        while position + 8 <= end:
            name, size = struct.unpack_from("<4sI", self.data, position)
            if name == b"LIST":
                self.read(position + 12, position + 8 + size)
            else:
                self.chunks[name] = position + 8, size
            position += 8 + size + size % 2

    def word(self, table, size, index, offset):
        return struct.unpack_from("<H", self.data, self.chunks[table][0] + index * size + offset)[0]

    def zones(self, head, size, offset, index, letter):
        """Of a preset or an instrument: by generator, the place of its value."""
        for bag in range(self.word(head, size, index, offset), self.word(head, size, index + 1, offset)):
            first, last = (self.word(letter + b"bag", 4, number, 0) for number in (bag, bag + 1))
            start = self.chunks[letter + b"gen"][0]
            yield {self.word(letter + b"gen", 4, n, 0): start + 4 * n + 2 for n in range(first, last)}

    def value(self, zone, generator, usual=None):
        return struct.unpack_from("<H", self.data, zone[generator])[0] if generator in zone else usual

    def hears(self, zone, key, velocity):
        ranges = ((self.KEYS, key), (self.VELOCITIES, velocity))
        values = [(self.value(zone, generator, 127 << 8), number) for generator, number in ranges]
        return all(value & 255 <= number <= value >> 8 for value, number in values)

    def layers(self, program, key, velocity):
        """The zones of instruments that a note of bank 0 sounds."""
        found = []
        for preset in range(self.chunks[b"phdr"][1] // 38 - 1):
            if (self.word(b"phdr", 38, preset, 20), self.word(b"phdr", 38, preset, 22)) != (program, 0):
                continue
            for zone in self.zones(b"phdr", 38, 24, preset, b"p"):
                instrument = self.value(zone, self.INSTRUMENT)
                if instrument is not None and self.hears(zone, key, velocity):
                    inner = self.zones(b"inst", 22, 20, instrument, b"i")
                    found += [z for z in inner if self.SAMPLE in z and self.hears(z, key, velocity)]
        return found

    def with_one(self, layer, layers):
        """The bank in which of these zones all but one are for a key that nobody plays."""
        data = bytearray(self.data)
        for other in layers:
            if other is not layer:
                struct.pack_into("<H", data, other[self.KEYS], 127 | 127 << 8)
        return data


def midi_file(notes):
    """480 ticks a beat of half a second."""
    ticks = lambda seconds: round(seconds * 960)
    events = []
    for index, (channel, program, key, velocity, *parameters) in enumerate(notes):
        at = START + index * SLOT
        events.append((ticks(at - 0.2), bytes([0xC0 | channel - 1, program])))
        for high, low, steps in parameters:
            entry = steps + 8192
            for controller, value in ((99, high), (98, low), (38, entry & 127), (6, entry >> 7)):
                events.append((ticks(at - 0.1), bytes([0xB0 | channel - 1, controller, value])))
        events.append((ticks(at), bytes([0x90 | channel - 1, key, velocity])))
        events.append((ticks(at + HELD), bytes([0x80 | channel - 1, key, 64])))
    events.append((ticks(length(notes)), bytes([0xFF, 0x2F, 0])))
    body, before = b"\x00\xff\x51\x03\x07\xa1\x20", 0
    for at, message in events:
        body += variable(at - before) + message
        before = at
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, 480) + b"MTrk" + struct.pack(">I", len(body)) + body


def variable(number):
    result = [number & 0x7F]
    while number := number >> 7:
        result.insert(0, number & 0x7F | 0x80)
    return bytes(result)


def length(notes):
    return START + len(notes) * SLOT


def render(sostenuto, bank, folder, notes):
    """The channels of both sides, ours first."""
    song, patch = f"{folder}/song.mid", f"{folder}/song.patch"
    with open(song, "wb") as file:
        file.write(midi_file(notes))
    with open(PATCH) as file:
        text = file.read()
    if BANK_OF_PATCH not in text:
        raise SystemExit(f"{PATCH} does not name {BANK_OF_PATCH}")
    with open(patch, "w") as file:
        file.write(text.replace(BANK_OF_PATCH, os.path.abspath(bank)))
    ours, theirs = f"{folder}/sostenuto.wav", f"{folder}/fluidsynth.wav"
    # FluidSynth reads samples by four points unless it is told otherwise.
    run([
        sostenuto, "render", patch, "--midi", song, "--seconds", str(length(notes)), "--quality", "4-point",
        "--output", ours,
    ])  # fmt: skip
    run([
        "fluidsynth", "-n", "-i", "-q", "-F", ours.replace("sostenuto", "fluidsynth"), "-r", str(RATE),
        "-R", "0", "-C", "0", "-g", str(GAIN), "-o", "audio.file.type=wav", "-o", "audio.file.format=float",
        "-o", "synth.polyphony=256", bank, song,
    ])  # fmt: skip
    try:
        return read_wav(ours, RATE), read_wav(theirs, RATE)
    except Failure as failure:
        raise SystemExit(str(failure))


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


class Note:
    """One note of one side."""

    def __init__(self, sides, start):
        first = round((start - 0.1) * RATE)
        last = round((start - 0.1 + SLOT) * RATE)
        self.sides = [side[first:last] for side in sides]
        self.key_up = round((0.1 + HELD) * RATE)
        power = [sum(x * x for x in frame) for frame in zip(*self.sides)]
        peak = math.sqrt(max(power, default=0))
        self.onset = next((i for i, x in enumerate(power) if x > (peak / 100) ** 2), None) if peak else None
        total = [0.0, *itertools.accumulate(power)]
        self.total = total
        self.envelope = [
            math.sqrt(max(0, total[i + WINDOW] - total[i]) / WINDOW) for i in range(0, len(power) - WINDOW, HOP)
        ]

    def level(self, start, end):
        """Decibels of the mean power between two frames."""
        mean = (self.total[end] - self.total[start]) / (end - start)
        return 10 * math.log10(mean) if mean > 0 else -200.0

    def rise(self, end):
        """The envelope's peak, and the hop at which it first comes near."""
        envelope = self.envelope[: end // HOP]
        top = max(envelope)
        return top, next(i for i, x in enumerate(envelope) if x > 0.9 * top)

    def attack(self, top, until):
        """Seconds by which the envelope's rise delays it: of a straight one, half its length."""
        return sum(1 - x / top for x in self.envelope[round(0.1 * RATE) // HOP : until]) * HOP / RATE

    def fall(self, start, end):
        """Decibels from the loudest of the first half to the end."""
        envelope = self.envelope[start // HOP : end // HOP - WINDOW // HOP]
        return 20 * math.log10(max(envelope[: len(envelope) // 2]) / max(envelope[-1], 1e-10))

    def reverberation(self, start, end, decibels):
        """Seconds until what is still to come has fallen by so much: as rooms are measured (M. Schroeder,
        "New method of measuring reverberation time", 1965), since beats and tremolo do not disturb it."""
        end = end or len(self.total) - 1
        whole = self.total[end] - self.total[start]
        rest = whole * 10 ** (-decibels / 10)
        at = bisect.bisect_left(self.total, self.total[end] - rest, start, end)
        return (at - start) / RATE if whole > 0 else None


def compare(ours, theirs, channel, key):
    """Differences by name; None where there is nothing to tell."""
    result = dict.fromkeys(TARGETS)
    if ours.onset is None or theirs.onset is None:
        return None
    result["onset"] = (lag(ours, theirs) + BLOCK) * 1000 / RATE
    is_drum = channel == 10
    start = round(0.1 * RATE)
    end = round((SLOT - 0.2) * RATE) if is_drum else ours.key_up
    result["level"] = ours.level(start, end) - theirs.level(start, end)
    if not is_drum:
        result["pitch"] = pitch(ours, theirs, key)
    result.update(times(ours, theirs, is_drum, result["level"]))
    return result


def lag(ours, theirs):
    """Frames by which we come later: where the correlation of the first 40 ms is largest."""
    reach, size = 192, 1920
    mine, other = ([a + b for a, b in zip(*note.sides)] for note in (ours, theirs))
    first = max(theirs.onset - reach, reach)
    target = other[first : first + size]

    def likeness(shift):
        piece = mine[first + shift : first + shift + size]
        power = sum(x * x for x in piece)
        return sum(map(operator.mul, piece, target)) / math.sqrt(power) if power > 0 else -math.inf

    return max(range(-reach, reach + 1), key=likeness)


def times(ours, theirs, is_drum, louder):
    up = ours.key_up
    ends = {"decay": (round(0.1 * RATE), len(ours.total) - 1 if is_drum else up), "release": (up, None)}
    result = dict.fromkeys(["attack", "decay", "release"])
    if not is_drum:
        top, until = theirs.rise(up)
        mine, other = ours.attack(top * 10 ** (louder / 20), until), theirs.attack(top, until)
        if other > SHORTEST:
            result["attack"] = (mine / other - 1) * 100
    for name, (start, end) in ends.items():
        if name == "release" and is_drum or name == "decay" and theirs.fall(start, end) < 10:
            continue
        fall = 20 if name == "release" else 10
        mine, other = ours.reverberation(start, end, fall), theirs.reverberation(start, end, fall)
        if mine is not None and other is not None and other > SHORTEST:
            result[name] = (mine / other - 1) * 100
    return result


def pitch(ours, theirs, key):
    """Cents, from the phase between the two at the strongest of the first partials."""
    base = 440 * 2 ** ((key - 69) / 12)
    mine, other = ([a + b for a, b in zip(*note.sides)] for note in (ours, theirs))
    start, size, step = round(0.3 * RATE), 2048, 960
    window = [0.5 - 0.5 * math.cos(2 * math.pi * (i + 0.5) / size) for i in range(size)]

    def tone(sound, at, frequency):
        turn = -2j * math.pi * frequency / RATE
        return sum(sound[at + i] * window[i] * cmath.exp(turn * i) for i in range(size))

    partial = max(range(1, 5), key=lambda n: abs(tone(other, start, n * base)))
    frequency = partial * base
    phases, strengths, before = [], [], None
    for at in range(start, ours.key_up - size, step):
        a, b = tone(mine, at, frequency), tone(other, at, frequency)
        phase = cmath.phase(a * b.conjugate())
        if before is not None:
            phase += 2 * math.pi * round((before - phase) / (2 * math.pi))
        before = phase
        phases.append(phase)
        strengths.append(abs(a * b))
    total = sum(strengths)
    if total <= 0:
        return None
    # The line of least squares, where both are loud.
    hops = range(len(phases))
    x = sum(s * i for s, i in zip(strengths, hops)) / total
    y = sum(s * p for s, p in zip(strengths, phases)) / total
    above = sum(s * (i - x) * (p - y) for s, i, p in zip(strengths, hops, phases))
    slope = above / sum(s * (i - x) ** 2 for s, i in zip(strengths, hops))
    return 1200 * math.log2(1 + slope / (2 * math.pi) * RATE / step / frequency)


def sounds(arguments):
    """Name, channel, key and both sounds of each note."""
    sostenuto = os.path.abspath(arguments.sostenuto)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        ours, theirs = render(sostenuto, arguments.bank, folder, NOTES)
        for index, (channel, program, key, _) in enumerate(NOTES):
            at = START + index * SLOT
            name = f"drum {key}" if channel == 10 else f"{NAMES[program]} {program}, key {key}"
            yield name, channel, key, Note(ours, at), Note(theirs, at)
        notes = [(*note, parameter) for _, note, *parameter in OFFSETS]
        ours, theirs = render(sostenuto, arguments.bank, folder, notes)
        for index, (name, (channel, program, key, _), *_) in enumerate(OFFSETS):
            at = START + index * SLOT
            yield f"{NAMES[program]} {program}, {name}", channel, key, Note(ours, at), Note(theirs, at)
        bank = Bank(arguments.bank)
        for note in LAYERED:
            channel, program, key, velocity = note
            layers = bank.layers(program, key, velocity)
            for number, layer in enumerate(layers, 1):
                # A layer that begins with a jump of the pitch stands where the jump's length puts it.
                if Bank.MOD_ENV_TO_PITCH in layer:
                    continue
                path = f"{folder}/layer.sf2"
                with open(path, "wb") as file:
                    file.write(bank.with_one(layer, layers))
                ours, theirs = render(sostenuto, path, folder, [note])
                name = f"{NAMES[program]} {program}, layer {number}"
                yield name, channel, key, Note(ours, START), Note(theirs, START)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sostenuto")
    parser.add_argument("--bank", default="/usr/share/sounds/sf2/TimGM6mb.sf2")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", help="a folder for the files")
    arguments = parser.parse_args()
    if shutil.which("fluidsynth") is None:
        raise SystemExit("fluidsynth is not installed")
    failures = 0
    worst = dict.fromkeys(TARGETS, 0.0)
    print(f"{'note':26}" + "".join(f"{name + ' ' + UNITS[name]:>14}" for name in TARGETS))
    for name, channel, key, ours, theirs in sounds(arguments):
        found = compare(ours, theirs, channel, key)
        if found is None:
            failures += 1
            print(f"{name:26}  silent on one side")
            continue
        cells = []
        for measure, value in found.items():
            if value is None:
                cells.append(f"{'–':>14}")
                continue
            is_off = abs(value) > TARGETS[measure]
            failures += is_off
            worst[measure] = max(worst[measure], abs(value))
            cells.append(f"{value:+13.2f}" + ("!" if is_off else " "))
        print(f"{name:26}" + "".join(cells))
    print(f"{'largest':26}" + "".join(f"{worst[name]:13.2f} " for name in TARGETS))
    print(f"{'target':26}" + "".join(f"{TARGETS[name]:13.2f} " for name in TARGETS))
    return 1 if arguments.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
