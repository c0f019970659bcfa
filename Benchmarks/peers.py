"""The same work for other programs: what they read, and how they are called.

Each renders offline at 48 kHz in blocks of 64 frames on one thread, into a file of floats.
"""
import math
import os
import shutil
import struct
import subprocess
import sys

from synthdef import SynthDef
from workloads import *

PACKAGES = {
    "scsynth": "supercollider-server",
    "pd": "puredata-core",
    "csound": "csound",
    "fluidsynth": "fluidsynth",
    "sgemm": "python3-numpy libopenblas0-pthread",
}

# --- scsynth: a definition, and a score of OSC messages.

def osc(address, *arguments):
    def padded(text):
        return text.encode() + bytes(4 - len(text) % 4)

    forms = {int: ("i", ">i"), float: ("f", ">f")}
    tags = "," + "".join("s" if isinstance(a, str) else forms[type(a)][0] for a in arguments)
    body = b"".join(
        padded(a) if isinstance(a, str) else struct.pack(forms[type(a)][1], a) for a in arguments
    )
    return padded(address) + padded(tags) + body


def score(seconds, messages):
    """A bundle of OSC as a file of scsynth's holds it."""
    data = b"#bundle\0" + struct.pack(">Q", round(seconds * 2**32))
    data += b"".join(struct.pack(">i", len(message)) + message for message in messages)
    return struct.pack(">i", len(data)) + data


def saw_score(folder):
    messages = [osc("/d_load", f"{folder}/saws.scsyndef")]
    for i, freq in enumerate(SAW_FREQS):
        left, right = sides(i, SAWS)
        messages.append(
            osc("/s_new", "saws", 1000 + i, 1, 0, "freq", freq, "left", left, "right", right)
        )
    return score(0, messages)


def key_score(folder):
    messages = [osc("/d_load", f"{folder}/saws.scsyndef")]
    for i, (freq, (left, right)) in enumerate(zip(KEY_FREQS, KEY_SIDES)):
        messages.append(osc("/s_new", "saws", 1000 + i, 1, 0, "freq", freq, "left", left, "right", right))
    return score(0, messages)


def prepare_scsynth(folder):
    definition = SynthDef("saws", freq=100, left=0.1, right=0.1)
    freq, left, right = map(definition.control, ("freq", "left", "right"))
    sound = definition.unit("RLPF", definition.unit("Saw", freq), CUTOFF, 1 / Q)
    definition.unit("Out", 0, *(definition.binary("*", sound, gain) for gain in (left, right)), outputs=0)
    definition.write(f"{folder}/saws.scsyndef")


def scsynth(folder, seconds, output, notes=saw_score):
    path = f"{folder}/{notes.__name__}-{seconds:g}.osc"
    with open(path, "wb") as file:
        file.write(notes(folder) + score(seconds, [osc("/c_set", 0, 0)]))
    return ["scsynth", "-D", "0", "-V", "-1", "-o", "2", "-z", str(BLOCK), "-n", "2048", "-m", "65536",
            "-N", path, "_", output, str(RATE), "WAV", "float"]  # fmt: skip


def scsynth_keys(folder, seconds, output):
    return scsynth(folder, seconds, output, key_score)


# --- Pd: a patch of objects and the connections between their numbers.


class PdPatch:
    def __init__(self):
        self.lines, self.cords, self.count = [], [], 0

    def add(self, text, *inlets, kind="obj"):
        """An object; `inlets` are (object, outlet, inlet) that feed it."""
        index = self.count
        self.count += 1
        self.lines.append(f"#X {kind} 0 0 {text};")
        for source, outlet, inlet in inlets:
            self.cords.append(f"#X connect {source} {outlet} {index} {inlet};")
        return index

    def text(self):
        return "\n".join(["#N canvas 0 0 100 100 10;", *self.lines, *self.cords, ""])


def pd_chain(effects, output):
    """Two chains of the effects in turns to a file. The message `go` brings the milliseconds: then recording ends, and 2 s later Pd
    quits: it does not wait for the thread that writes."""
    patch = PdPatch()
    last = []
    for freq in CHAIN_FREQS:
        sine = patch.add(f"osc~ {freq}")
        node = patch.add(f"*~ {CHAIN_LEVEL}", (sine, 0, 0))
        for i in range(1, CHAIN + 1):
            node = patch.add(effects[i % len(effects)], (node, 0, 0))
        last.append(node)
    start = patch.add("t f b", (patch.add("r go"), 0, 0))
    end = patch.add("t b b", (patch.add("delay", (start, 0, 0)), 0, 0))
    opening = patch.add(f"open -wave -bytes 4 {output} \\, start", (start, 1, 0), kind="msg")
    closing = patch.add("stop", (end, 1, 0), kind="msg")
    patch.add("writesf~ 2", (opening, 0, 0), (closing, 0, 0), (last[0], 0, 0), (last[1], 0, 1))
    patch.add("\\; pd dsp 1", (start, 1, 0), kind="msg")
    patch.add("\\; pd quit", (patch.add("delay 2000", (end, 0, 0)), 0, 0), kind="msg")
    return patch.text()


def pd(*effects):
    def command(folder, seconds, output):
        path = f"{folder}/{os.path.basename(output)}.pd"
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(pd_chain(effects, output))
        return ["pd", "-nogui", "-batch", "-noprefs", "-nomidi", "-r", str(RATE), "-open", path,
                "-send", f"go {seconds * 1000:g}"]  # fmt: skip

    return command


pd_gains = pd(*(f"*~ {gain:.8f}" for gain in CHAIN_GAINS))
# Its coefficient of the pole is 1 - 2 pi f / rate: next to all passes.
pd_low_passes = pd("lop~ 7630")

# --- Csound


def csound(folder, seconds, output):
    path = f"{folder}/saws.csd"
    if not os.path.exists(path):
        notes = "".join(
            "i1 0 $SECONDS {:.6f} {:.8f} {:.8f}\n".format(freq, *sides(i, SAWS))
            for i, freq in enumerate(SAW_FREQS)
        )
        with open(path, "w") as file:
            file.write(
                "<CsoundSynthesizer>\n<CsInstruments>\n"
                f"sr = {RATE}\nksmps = {BLOCK}\nnchnls = 2\n0dbfs = 1\n"
                "instr 1\naSaw vco2 1, p4\n"
                f"aLow lowpass2 aSaw, {CUTOFF}, {Q}\nouts aLow*p5, aLow*p6\nendin\n"
                f"</CsInstruments>\n<CsScore>\n{notes}e\n</CsScore>\n</CsoundSynthesizer>\n"
            )
    return ["csound", "-d", "-m0", "-j1", "-W", "-f", "-o", output,
            f"--smacro:SECONDS={seconds:.7f}", path]  # fmt: skip


# --- FluidSynth: a SoundFont of the one sample, and a MIDI file of 128 notes.


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) & 1)


def sound_font(samples, *zones):
    """A bank of one looped sample; each zone has further generators. Without zones it has one that states nothing."""
    zones = zones or ((),)
    def named(text):
        return text.encode().ljust(20, b"\0")

    def generators(*pairs):
        return b"".join(struct.pack("<Hh", *pair) for pair in pairs)

    def bags(*indices):
        return b"".join(struct.pack("<HH", index, 0) for index in indices)

    # The loop is all of the sample, but for the frames that interpolation needs around it.
    wave = struct.pack(f"<{len(samples)}h", *(round(32000 * x) for x in samples)) + bytes(92)
    header = struct.pack("<IIIIIBbHH", 0, len(samples), 8, len(samples) - 8, RATE, 60, 0, 0, 1)
    loops, sample, instrument = (54, 1), (53, 0), (41, 0)
    tables = [
        (b"phdr", named("tone") + struct.pack("<HHHIII", 0, 0, 0, 0, 0, 0)
                + named("EOP") + struct.pack("<HHHIII", 0, 0, 1, 0, 0, 0)),
        (b"pbag", bags(0, 1)),
        (b"pmod", bytes(10)),
        (b"pgen", generators(instrument, (0, 0))),
        (b"inst", named("tone") + struct.pack("<H", 0) + named("EOI") + struct.pack("<H", len(zones))),
        (b"ibag", bags(*(sum(2 + len(zone) for zone in zones[:i]) for i in range(len(zones) + 1)))),
        (b"imod", bytes(10)),
        (b"igen", b"".join(generators(loops, *zone, sample) for zone in zones) + bytes(4)),
        (b"shdr", named("tone") + header + named("EOS") + bytes(26)),
    ]  # fmt: skip
    info = chunk(b"ifil", struct.pack("<HH", 2, 1)) + chunk(b"isng", b"EMU8000\0") + chunk(b"INAM", b"tone\0\0")
    lists = [
        chunk(b"LIST", b"INFO" + info),
        chunk(b"LIST", b"sdta" + chunk(b"smpl", wave)),
        chunk(b"LIST", b"pdta" + b"".join(chunk(*table) for table in tables)),
    ]
    return chunk(b"RIFF", b"sfbk" + b"".join(lists))


def spread_notes():
    """128 notes of two octaves, which are rates 0.5 to 2, over the 15 channels that play melodies."""
    channels = [channel for channel in range(16) if channel != 9]
    return [(channels[i % 15], 48 + i * 24 // (VOICES - 1)) for i in range(VOICES)]


def midi_file(seconds, notes, volume):
    """Notes (channel, key) that are held to the end."""
    channels = sorted({channel for channel, _ in notes})
    events = [(0, *event) for channel in channels for event in ((0xC0 | channel, 0), (0xB0 | channel, 7, volume))]
    events += [(0, 0x90 | channel, key, 90) for channel, key in notes]
    return midi_track(events + [(round(seconds * 960), 0x80 | channel, key, 0) for channel, key in notes])


def prepare_fluidsynth(folder, samples):
    with open(f"{folder}/tone.sf2", "wb") as file:
        file.write(sound_font(samples))


# A key is 19 cents, so that a channel has 128 pitches; the filter's cutoff and its resonance, and for a
# cutoff that moves an LFO of an octave each way, at 5.8 Hz.
FILTERED = ((56, 19), (8, 8000), (9, 60))
BANKS = {"still.sf2": FILTERED, "moving.sf2": (*FILTERED, (10, 1200), (22, -600))}


# A release of half a second; and both sides of a stereo sample, hard left and right.
RELEASED = ((38, -1200),)
LEFT, RIGHT = ((17, -500),), ((17, 500),)


def write_bank(folder, name, samples, *zones):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(sound_font(samples, *zones))


def write_banks(folder, samples):
    for name, stated in BANKS.items():
        write_bank(folder, name, samples, stated)


def released_notes(seconds):
    """240 notes a second of 20 ms: about 120 voices, nearly all of them in their release. Ours read the same file."""
    events = []
    for i in range(int(240 * seconds)):
        events.append((i * 4, 0x90, 36 + i % 60, 90))
        events.append((i * 4 + 19, 0x80, 36 + i % 60, 0))
    return midi_track([(0, 0xB0, 7, 40), *events])


# Programs of several layers in FluidR3 that sound as long as they are held.
LAYERED = (48, 50, 61, 63, 88, 89, 92, 94)


def chord_of_layers(seconds):
    """Six notes of each program."""
    events = [(0, 0xC0 | channel, program) for channel, program in enumerate(LAYERED)]
    events += [(0, 0xB0 | channel, 7, 60) for channel in range(len(LAYERED))]
    keys = [(channel, 40 + 5 * i) for channel in range(len(LAYERED)) for i in range(6)]
    events += [(0, 0x90 | channel, key, 90) for channel, key in keys]
    events += [(round(seconds * 960), 0x80 | channel, key, 0) for channel, key in keys]
    return midi_track(events)


def midi_track(events):
    """A MIDI file of events at ticks, of which a second has 960."""
    track, now = bytearray(b"\0\xff\x51\x03" + (1_000_000).to_bytes(3, "big")), 0
    for tick, *data in sorted(events, key=lambda event: event[0]):
        track += variable_length(tick - now) + bytes(data)
        now = tick
    track += b"\0\xff\x2f\0"
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, 960) + b"MTrk" + struct.pack(">I", len(track)) + bytes(track)


def variable_length(ticks):
    data = [ticks & 127]
    while ticks := ticks >> 7:
        data.insert(0, ticks & 127 | 128)
    return bytes(data)


def filtered(bank):
    return fluidsynth(bank, [(0, key) for key in range(VOICES)], 100)


def fluidsynth(bank, notes, volume):
    return fluidsynth_plays(bank, lambda seconds: midi_file(seconds, notes, volume))


def fluidsynth_plays(bank, music):
    """`music`: the MIDI file of so many seconds."""
    def command(folder, seconds, output):
        path = f"{folder}/{os.path.basename(bank)}-{seconds:g}.mid"
        with open(path, "wb") as file:
            file.write(music(seconds))
        return fluidsynth_command(os.path.join(folder, bank), path, output)

    return command


def fluidsynth_command(bank, path, output):
    return ["fluidsynth", "-n", "-i", "-q", "-R", "0", "-C", "0", "-r", str(RATE), "-g", "0.1",
            "-o", "synth.polyphony=256", "-o", "synth.cpu-cores=1", "-o", "audio.period-size=64",
            "-o", "player.timing-source=sample", "-O", "float", "-T", "wav", "-F", output,
            bank, path]  # fmt: skip


# --- sgemm: the matrix alone, for a block at a time, in memory.

SGEMM = """
import sys, numpy
random = numpy.random.default_rng(0)
gains, inputs = (random.standard_normal((64, 64)).astype(numpy.float32) for _ in range(2))
outputs = numpy.empty_like(inputs)
for _ in range(round(float(sys.argv[1]) * 750)): numpy.dot(gains, inputs, out=outputs)
if "openblas" not in open("/proc/self/maps").read(): sys.exit("numpy without OpenBLAS")
"""


def find_blas():
    """The Python whose numpy calls OpenBLAS."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", SGEMM, "0.1"], capture_output=True).returncode == 0:
            return python


def sgemm(python):
    return lambda folder, seconds, output: [python, "-c", SGEMM, f"{seconds:g}"]
