"""The facts of the workloads W1 to W7: every side plays these numbers, so that the work is the same.

W1  256 saws, each through a resonant low-pass (1 kHz, Q 2) and two gains, to stereo; sixteen of them as held notes
W2  128 voices of one looped sample, each at a rate of its own, with two gains, to stereo; also with filters, still
    and moving, and 1000 of them; stereo; with faded loops; released; a General MIDI chord of layers
W3  64 saws through a 64x64 matrix in which every gain is open
W4  two sines through 1000 stereo gains around 0 dB (a) or 1000 stereo low-passes (b) in series
SF2 a General MIDI bank of 140 MB loads
W7  two branches that do not meet, each of 500 stereo low-passes in series
"""
import math
import random
import struct

RATE = 48000
BLOCK = 64

SAWS = 256
SAW_FREQS = [55 * 2 ** (5 * i / (SAWS - 1)) for i in range(SAWS)]
CUTOFF, Q = 1000, 2

# The notes of a polyphonic patch, from left to right by equal power.
KEYS = range(36, 52)
KEY_FREQS = [440 * 2 ** ((key - 69) / 12) for key in KEYS]
KEY_SIDES = [
    (math.cos(place) / 16, math.sin(place) / 16)
    for place in (math.pi / 2 * i / (len(KEYS) - 1) for i in range(len(KEYS)))
]

VOICES = 128
VOICE_RATES = [0.5 * 2 ** (2 * i / (VOICES - 1)) for i in range(VOICES)]

# As Debian's fluid-soundfont-gm has it.
BANK = "/usr/share/sounds/sf2/FluidR3_GM.sf2"

WIDTH = 64
MATRIX_FREQS = [40 + 7.3 * i for i in range(WIDTH)]
MATRIX_GAINS = [[((o * 7 + i * 13) % 31 + 1) / 31 / WIDTH for i in range(WIDTH)] for o in range(WIDTH)]

CHAIN = 1000
CHAIN_FREQS = (110, 165)
CHAIN_LEVEL = 0.5
# In turns, so that the signal stays where it is; the first is above 0 dB, which a blast shield has to look at.
CHAIN_GAINS = (1.0001, 1 / 1.0001)

SAMPLE_FRAMES = 96000


def sides(index, count):
    """A voice's gains to the left and to the right: linear, and 1/32 in all."""
    right = index / (count - 1)
    return (1 - right) / 32, right / 32


def decibels(gain):
    return "-inf" if gain == 0 else f"{20 * math.log10(gain):.6f}".rstrip("0").rstrip(".") + "dB"


def sample():
    """Two seconds of a 220 Hz tone of 20 partials over a little noise, which loop without a seam."""
    tone = [
        sum(math.sin(2 * math.pi * (220 * k * frame % RATE) / RATE + k * k) / k for k in range(1, 21))
        for frame in range(2400)
    ]
    peak = max(map(abs, tone))
    noise = random.Random(1)
    return [
        0.5 * tone[frame % len(tone)] / peak + noise.gauss(0, 0.02) for frame in range(SAMPLE_FRAMES)
    ]


def write_wav(path, *channels):
    """A file of 32-bit floats."""
    frames = [sample for frame in zip(*channels) for sample in frame]
    data, width = struct.pack(f"<{len(frames)}f", *frames), len(channels)
    form = struct.pack("<HHIIHH", 3, width, RATE, RATE * 4 * width, 4 * width, 32)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(body)) + body)


# What the work sounds like: the RMS of left and right together. Voices of different frequencies are
# incoherent, so that their powers add.


def resonance(freq):
    """The power that the low-pass of W1 lets through."""
    ratio = (freq / CUTOFF) ** 2
    return 1 / ((1 - ratio) ** 2 + ratio / Q**2)


def saws_rms():
    """Every 51 voices are an octave, so that partials of voices that start together coincide."""
    octave = (SAWS - 1) // 5
    amplitudes = {}
    for i, freq in enumerate(SAW_FREQS):
        for k in range(1, int(RATE / 2 / freq) + 1):
            place = (i % octave, k << (i // octave))
            left, right, _ = amplitudes.get(place, (0, 0, 0))
            left, right = (sum + gain / k for sum, gain in zip((left, right), sides(i, SAWS)))
            amplitudes[place] = left, right, k * freq
    power = sum((left**2 + right**2) * resonance(freq) for left, right, freq in amplitudes.values())
    return math.sqrt(0.5 * power) * 2 / math.pi


def keys_rms():
    """The same for the keys, which are an octave apart every twelve."""
    amplitudes = {}
    for i, (freq, gains) in enumerate(zip(KEY_FREQS, KEY_SIDES)):
        for k in range(1, int(RATE / 2 / freq) + 1):
            place = (i % 12, k << (i // 12))
            left, right, _ = amplitudes.get(place, (0, 0, 0))
            left, right = (sum + gain / k for sum, gain in zip((left, right), gains))
            amplitudes[place] = left, right, k * freq
    power = sum((left**2 + right**2) * resonance(freq) for left, right, freq in amplitudes.values())
    return math.sqrt(0.5 * power) * 2 / math.pi


# An SFZ voice's gain while nobody has moved a controller: volume is at 100 of 127, squared, and the pan law is 0 dB in
# the centre.
AT_REST = (100 / 127) ** 2 * math.sqrt(2)


def voices_rms(samples):
    power = sum(x * x for x in samples) / len(samples)
    return math.sqrt(power * sum(gain**2 for i in range(VOICES) for gain in sides(i, VOICES)))


def matrix_rms():
    """Of the first two outputs: a saw from -1 to 1 has a power of a third."""
    return math.sqrt(sum(gain**2 / 3 for row in MATRIX_GAINS[:2] for gain in row))


def chain_rms():
    """Of two sines, at the end as at the start."""
    return CHAIN_LEVEL
