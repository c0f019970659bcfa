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
# Channel (10 has the drums), program, key, velocity. Programs whose layers beat against each other have no one
# pitch, and are left out.
NOTES = [
    (1, 0, 60, 100), (1, 0, 36, 64), (2, 4, 57, 90), (3, 12, 72, 110), (4, 19, 48, 80), (5, 24, 64, 100),
    (6, 33, 36, 120), (7, 71, 67, 70), (8, 11, 60, 100), (9, 56, 65, 127), (11, 65, 58, 90), (12, 73, 79, 80),
    (13, 80, 69, 100), (14, 88, 55, 100), (15, 61, 62, 40), (16, 105, 50, 100),
    (10, 0, 36, 110), (10, 0, 38, 100), (10, 0, 42, 90), (10, 0, 49, 120),
]  # fmt: skip
NAMES = {
    0: "piano", 4: "e-piano", 11: "vibraphone", 12: "marimba", 19: "organ", 24: "guitar", 33: "bass",
    56: "trumpet", 61: "brass", 65: "sax", 71: "clarinet", 73: "flute", 80: "square", 88: "pad", 105: "banjo",
}  # fmt: skip
TARGETS = {"onset": 1.0, "pitch": 1.0, "level": 1.0, "attack": 5.0, "decay": 5.0, "release": 5.0}
UNITS = {"onset": "ms", "pitch": "cents", "level": "dB", "attack": "%", "decay": "%", "release": "%"}
HOP, WINDOW = 48, 960
BLOCK = 64
SHORTEST = 0.05


def midi_file():
    """480 ticks a beat of half a second."""
    ticks = lambda seconds: round(seconds * 960)
    events = []
    for index, (channel, program, key, velocity) in enumerate(NOTES):
        at = START + index * SLOT
        events.append((ticks(at - 0.2), bytes([0xC0 | channel - 1, program])))
        events.append((ticks(at), bytes([0x90 | channel - 1, key, velocity])))
        events.append((ticks(at + HELD), bytes([0x80 | channel - 1, key, 64])))
    events.append((ticks(length()), bytes([0xFF, 0x2F, 0])))
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


def length():
    return START + len(NOTES) * SLOT


def render(sostenuto, bank, folder):
    """The channels of both sides, ours first."""
    song, patch = f"{folder}/song.mid", f"{folder}/song.patch"
    with open(song, "wb") as file:
        file.write(midi_file())
    with open(PATCH) as file:
        text = file.read()
    if BANK_OF_PATCH not in text:
        raise SystemExit(f"{PATCH} does not name {BANK_OF_PATCH}")
    with open(patch, "w") as file:
        file.write(text.replace(BANK_OF_PATCH, os.path.abspath(bank)))
    ours, theirs = f"{folder}/sostenuto.wav", f"{folder}/fluidsynth.wav"
    # FluidSynth reads samples by four points unless it is told otherwise.
    run([
        sostenuto, "render", patch, "--midi", song, "--seconds", str(length()), "--quality", "4-point",
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sostenuto")
    parser.add_argument("--bank", default="/usr/share/sounds/sf2/TimGM6mb.sf2")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", help="a folder for the files")
    arguments = parser.parse_args()
    if shutil.which("fluidsynth") is None:
        raise SystemExit("fluidsynth is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        ours, theirs = render(os.path.abspath(arguments.sostenuto), arguments.bank, folder)
    failures = 0
    worst = dict.fromkeys(TARGETS, 0.0)
    print(f"{'note':24}" + "".join(f"{name + ' ' + UNITS[name]:>14}" for name in TARGETS))
    for index, (channel, program, key, velocity) in enumerate(NOTES):
        at = START + index * SLOT
        name = f"drum {key}" if channel == 10 else f"{NAMES[program]} {program}, key {key}"
        found = compare(Note(ours, at), Note(theirs, at), channel, key)
        if found is None:
            failures += 1
            print(f"{name:24}  silent on one side")
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
        print(f"{name:24}" + "".join(cells))
    print(f"{'largest':24}" + "".join(f"{worst[name]:13.2f} " for name in TARGETS))
    print(f"{'target':24}" + "".join(f"{TARGETS[name]:13.2f} " for name in TARGETS))
    return 1 if arguments.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
