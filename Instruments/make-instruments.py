#!/usr/bin/env python3
"""Makes the instruments of this folder: python3 Instruments/make-instruments.py

organ/    sustains: additive pipes, perfect loops, a soft and a loud registration
upright/  decays: additive strings with stiffness, three strengths of the hammer

Plain Python, no packages, no randomness: the same files each time. Every partial makes a whole number of
turns in the loop, so that a loop has no seam; what changes over time (speech, hammer, the faster decay of
high partials) has come to rest where the loop begins, and the instrument's envelope does the rest.
"""
import math
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
PEAK = 0.5  # of each sample; the .sfz lowers it so that a loud note peaks at -12 dBFS


def frequency(key):
    return 440.0 * 2.0 ** ((key - 69) / 12.0)


def loop_of(key, rate, seconds, multiple=1):
    """A loop of about `seconds`: its frames, and how many turns the fundamental makes in it. `multiple`:
    the turns are a multiple of it. The pitch is off by less than 0.06 cents."""
    f = frequency(key)
    best = None
    first = max(1, round(seconds * f / multiple))
    for turns in range(first, first + 8):
        exact = turns * multiple * rate / f
        frames = round(exact)
        fault = abs(frames - exact) / exact
        if best is None or fault < best[0]:
            best = (fault, frames, turns * multiple)
    return best[1], best[2]


class Noise:
    """White noise -1...1 from a linear congruence."""

    def __init__(self, seed):
        self.state = seed & 0xFFFFFFFF

    def next(self):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return self.state / 2147483648.0 - 1.0


def add_partial(layers, amplitudes, turns, loop, shape, offset=0.0, step=32):
    """Adds sin(2 pi turns t / loop + offset) to every layer with its amplitude; `shape(frame)` is the partial's
    course, evaluated every `step` frames and straight between."""
    frames = len(layers[0])
    angle = 2.0 * math.pi * turns / loop
    turn_re, turn_im = math.cos(angle), math.sin(angle)
    active = [(layer, a) for layer, a in zip(layers, amplitudes) if a > 1e-7]
    if not active:
        return
    gain = shape(0)
    for start in range(0, frames, step):
        end = min(start + step, frames)
        target = shape(start + step)
        slope = (target - gain) / step
        # Each stretch begins at its exact phase, so that no error builds up.
        phase = math.fmod(turns * start, loop) / loop * 2.0 * math.pi + offset
        re, im = math.cos(phase), math.sin(phase)
        for frame in range(start, end):
            value = im * gain
            for layer, a in active:
                layer[frame] += a * value
            re, im = re * turn_re - im * turn_im, im * turn_re + re * turn_im
            gain += slope
        gain = target


def write_wav(path, samples, rate, key, loop_start, loop_end):
    """16-bit mono with its loop (`loop_end` is the last frame) and its key in a `smpl` chunk."""
    scale = PEAK * 32767.0 / max(abs(s) for s in samples)
    data = b"".join(struct.pack("<h", round(s * scale)) for s in samples)
    fmt = struct.pack("<HHIIHH", 1, 1, rate, rate * 2, 2, 16)
    smpl = struct.pack("<9I", 0, 0, 1000000000 // rate, key, 0, 0, 0, 1, 0)
    smpl += struct.pack("<6I", 0, 0, loop_start, loop_end, 0, 0)
    chunks = b""
    for name, body in ((b"fmt ", fmt), (b"smpl", smpl), (b"data", data)):
        chunks += name + struct.pack("<I", len(body)) + body + (b"\0" if len(body) % 2 else b"")
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)


def bounds(keys, lowest, highest):
    """The keys that each sample serves: up to half-way to its neighbours."""
    edges = [lowest] + [(a + b) // 2 + 1 for a, b in zip(keys, keys[1:])] + [highest + 1]
    return [(edges[i], edges[i + 1] - 1) for i in range(len(keys))]


# ---- the organ ---------------------------------------------------------------------------------------

ORGAN_RATE = 44100
ORGAN_KEYS = list(range(36, 97, 7))
# Turns in two periods of the 8-foot pipe, and the amplitudes in the soft and the loud registration.
PIPES = [
    (1, 0.10, 0.26),   # 16'
    (2, 1.00, 0.90),   # 8'
    (4, 0.42, 0.55),   # 4'
    (6, 0.13, 0.34),   # 2 2/3'
    (8, 0.07, 0.36),   # 2'
    (10, 0.03, 0.12),  # 1 3/5'
    (12, 0.015, 0.17), # 1 1/3'
    (16, 0.008, 0.15), # 1'
    (20, 0.0, 0.06),
    (24, 0.0, 0.07),
    (32, 0.0, 0.04),
]


def make_organ():
    folder = os.path.join(HERE, "organ")
    os.makedirs(folder, exist_ok=True)
    regions = []
    for key, (low, high) in zip(ORGAN_KEYS, bounds(ORGAN_KEYS, 24, 108)):
        loop, turns = loop_of(key, ORGAN_RATE, 0.4, multiple=2)
        attack = int(0.13 * ORGAN_RATE)
        frames = attack + loop
        layers = [[0.0] * frames, [0.0] * frames]
        for number, (pipe, soft, loud) in enumerate(PIPES):
            if pipe / 2 * frequency(key) > 12000:
                continue
            # The pipes of the upper ranks stand a little sharp: one turn a loop, a slow beat.
            own = turns // 2 * pipe + (1 if pipe in (4, 8, 12) else 0)
            # High pipes speak first; all have spoken well before the loop.
            speech = (0.035 + 0.07 / (1 + 0.4 * number)) * ORGAN_RATE

            def shape(frame, speech=speech):
                return 0.5 - 0.5 * math.cos(math.pi * frame / speech) if frame < speech else 1.0

            add_partial(layers, (soft, loud), own, loop, shape, 0.7 * number * number)
        # The wind before the tone: band-limited noise that is gone before the loop.
        noise = Noise(key)
        low_pass = high_pass = 0.0
        for frame in range(int(0.06 * ORGAN_RATE)):
            t = frame / ORGAN_RATE
            low_pass += 0.35 * (noise.next() - low_pass)
            high_pass += 0.08 * (low_pass - high_pass)
            gust = (low_pass - high_pass) * math.sin(math.pi * t / 0.06) ** 2
            layers[0][frame] += 0.05 * gust
            layers[1][frame] += 0.09 * gust
        for name, layer, velocities in (
            ("soft", layers[0], "lovel=1 hivel=84"),
            ("loud", layers[1], "lovel=85 hivel=127"),
        ):
            file = "%s-%03d.wav" % (name, key)
            # From the second pass on the loop is all there is; it begins where everything rests.
            write_wav(os.path.join(folder, file), layer, ORGAN_RATE, key, attack, attack + loop - 1)
            pan = round(24 * (key - 66) / 30)
            regions.append(
                "<region> sample=%s lokey=%d hikey=%d pitch_keycenter=%d %s pan=%d loop_start=%d loop_end=%d"
                % (file, low, high, key, velocities, pan, attack, attack + loop - 1)
            )
    with open(os.path.join(folder, "organ.sfz"), "w") as file:
        file.write(
            "// A small organ. Made by make-instruments.py; edit that instead.\n"
            "<global> loop_mode=loop_continuous volume=-3 amp_veltrack=35 effect1=30 effect2=20\n"
            "ampeg_attack=0.004 ampeg_release=0.14\n" + "\n".join(regions) + "\n"
        )


# ---- the upright piano -------------------------------------------------------------------------------

UPRIGHT_RATE = 32000
UPRIGHT_KEYS = list(range(24, 106, 7)) + [108]
# Name, velocities, and how high the hammer's felt lets partials through at middle C.
HAMMERS = [("soft", 1, 54, 750.0), ("middle", 55, 94, 1900.0), ("hard", 95, 127, 4600.0)]


def make_upright():
    folder = os.path.join(HERE, "upright")
    os.makedirs(folder, exist_ok=True)
    regions = []
    for key, (low, high) in zip(UPRIGHT_KEYS, bounds(UPRIGHT_KEYS, 21, 108)):
        f = frequency(key)
        height = (key - 21) / 87.0
        loop, turns = loop_of(key, UPRIGHT_RATE, 0.36 - 0.2 * height)
        # The part before the loop, in which high partials fade and the sound's first strength goes.
        settle = int((0.42 - 0.24 * height) * UPRIGHT_RATE)
        frames = settle + loop
        layers = [[0.0] * frames for _ in HAMMERS]
        stiffness = 0.00013 * 2.0 ** (4.2 * max(0.0, height - 0.25) / 0.75)
        number = 0
        while number < 44:
            number += 1
            own_frequency = number * f * math.sqrt(1.0 + stiffness * number * number)
            if own_frequency > 0.42 * UPRIGHT_RATE:
                break
            own = turns if number == 1 else max(turns + 1, round(own_frequency * loop / UPRIGHT_RATE))
            # The hammer strikes an eighth of the string; soundboards carry little below 60 Hz.
            strength = abs(math.sin(math.pi * number / 8.2)) / number ** 0.6
            strength *= 1.0 / (1.0 + (55.0 / own_frequency) ** 2)
            amplitudes = []
            for _, _, _, cutoff in HAMMERS:
                felt = cutoff * 2.0 ** ((key - 60) / 30.0)
                amplitudes.append(strength * math.exp(-((own_frequency / felt) ** 0.9)))
            # How much faster than the fundamental it fades, a second.
            fade = 0.5 * (number - 1) * (0.5 + 1.6 * height) + 0.0005 * own_frequency
            rest = settle / UPRIGHT_RATE

            def shape(frame, fade=fade, rest=rest, number=number):
                t = frame / UPRIGHT_RATE
                # Time that runs at first and comes to rest smoothly where the loop begins.
                time = rest * 2.0 / math.pi * math.sin(min(1.0, t / rest) * math.pi / 2.0)
                prompt = 0.72 + 0.28 * math.exp(-time / 0.12)
                # The hammer's contact rounds the very beginning.
                contact = 1.0 - math.exp(-t / 0.0006) if t < 0.02 else 1.0
                return math.exp(-fade * time) * prompt * contact

            # Phases that spread the partials' peaks (M. Schroeder, 1970), or each period were a spike.
            add_partial(layers, amplitudes, own, loop, shape, math.pi * number * number / 20.0)
        # The knock of key and hammer: low noise, gone after 60 ms.
        noise = Noise(key * 7 + 1)
        a = b = c = 0.0
        for frame in range(int(0.06 * UPRIGHT_RATE)):
            t = frame / UPRIGHT_RATE
            a += 0.16 * (noise.next() - a)
            b += 0.16 * (a - b)
            c += 0.02 * (b - c)
            knock = (b - c) * (1.0 - math.exp(-t / 0.0008)) * math.exp(-t / 0.010)
            knock *= 0.5 + 0.5 * math.cos(math.pi * t / 0.06)
            for layer, amount in zip(layers, (0.06, 0.13, 0.24)):
                layer[frame] += amount * knock
        decay = 26.0 * 2.0 ** (-4.0 * height)
        release = 0.22 if key <= 88 else 1.4
        for (name, first, last, _), layer in zip(HAMMERS, layers):
            file = "%s-%03d.wav" % (name, key)
            write_wav(os.path.join(folder, file), layer, UPRIGHT_RATE, key, settle, settle + loop - 1)
            regions.append(
                "<region> sample=%s lokey=%d hikey=%d pitch_keycenter=%d lovel=%d hivel=%d pan=%d "
                "loop_start=%d loop_end=%d ampeg_decay=%.2f ampeg_release=%.2f"
                % (file, low, high, key, first, last, round(30 * (height - 0.5) * 2), settle,
                   settle + loop - 1, decay, release)
            )
    with open(os.path.join(folder, "upright.sfz"), "w") as file:
        file.write(
            "// A small upright piano. Made by make-instruments.py; edit that instead.\n"
            "<global> loop_mode=loop_continuous volume=-3 amp_veltrack=72 ampeg_sustain=0 effect1=25\n"
            + "\n".join(regions) + "\n"
        )


if __name__ == "__main__":
    make_organ()
    make_upright()
