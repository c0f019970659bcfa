"""What `make bench-kinds` has of each kind: its settings, none of them special, which ports are moved, and the nearest that
the peers have. Theirs are moved at the rate of sound where they can be, else once a block (`Graph.slow`).
"""
import math

from forms import PARALLEL, RATE, Work, alone, each
from workloads import SAMPLE_FRAMES, decibels

SIDE_BY_SIDE = (PARALLEL,)


def frequencies(number, channels):
    return "freq=[" + ",".join(f"{frequency(number, c):.3f}Hz" for c in range(channels)) + "]"


def frequency(number, channel):
    """Of sources that no cable moves."""
    return 110 * 2 ** ((number * 7 + channel * 3) % 61 / 12)


# --- Sources: an input is the channel's number.

QUIET = 0.001


def wave(settings, moved=None, **peers):
    """Waves of many frequencies, or all of one when a cable moves them, as it moves all alike."""
    steady = moved is None or moved[0] == ["level"]

    def stated(number, channels):
        freq = frequencies(number, channels) if steady else f"freq={moved[1]}Hz"
        return f"{settings} {freq} level={decibels(QUIET)} channels={channels}"

    title = settings.split("=")[1] + (f", {moved[0][0]} moved" if moved else "")
    return Work(title, stated, moved, forms=SIDE_BY_SIDE, sources=0, **peers)


def sc_wave(unit, *more):
    return {
        None: each(lambda g, c, m, i: g.mul(g.unit(unit, frequency(i, c), *more), QUIET)),
        "freq": each(lambda g, c, m, i: g.mul(g.unit(unit, m, *more), QUIET)),
        "level": each(lambda g, c, m, i: g.mul(g.unit(unit, frequency(i, c), *more), m)),
    }


def cs_vco(mode):
    return {
        None: each(lambda g, c, m, i: g.a(f"vco2 {QUIET}, {frequency(i, c):.3f}, {mode}")),
        "freq": each(lambda g, c, m, i: g.a(f"vco2 {QUIET}, {g.slow}, {mode}")),
        "level": each(lambda g, c, m, i: g.a(f"= {m} * " + g.a(f"vco2 1, {frequency(i, c):.3f}, {mode}"))),
    }


CS_SINE = {
    None: each(lambda g, c, m, i: g.a(f"oscili {QUIET}, {frequency(i, c):.3f}")),
    "freq": each(lambda g, c, m, i: g.a(f"oscili {QUIET}, {m}")),
    "level": each(lambda g, c, m, i: g.a(f"oscili {m}, {frequency(i, c):.3f}")),
}
PD_SINE = {
    None: each(lambda g, c, m, i: g.obj(f"*~ {QUIET}", g.obj(f"osc~ {frequency(i, c):.3f}"))),
    "freq": each(lambda g, c, m, i: g.obj(f"*~ {QUIET}", g.obj("osc~", m))),
    "level": each(lambda g, c, m, i: g.obj("*~", g.obj(f"osc~ {frequency(i, c):.3f}"), m)),
}


def waves():
    """Pd's other waves are not band-limited. The others' saws and squares take their frequency once a block."""
    shapes = {
        "sine": (sc_wave("SinOsc", 0), CS_SINE, PD_SINE),
        "saw": (sc_wave("Saw"), cs_vco(0), {}),
        "square": (sc_wave("Pulse", 0.5), cs_vco(10), {}),
        "triangle": ({}, cs_vco(12), {}),
    }
    for shape, (scsynth, csound, pd) in shapes.items():
        for moved in (None, (["freq"], 440, 100), (["level"], QUIET, QUIET / 2)):
            port = moved and moved[0][0]
            yield wave(f"shape={shape}", moved, scsynth=scsynth.get(port), csound=csound.get(port), pd=pd.get(port))


def noises():
    for color, unit, opcode in (("white", "WhiteNoise", "rand {}"), ("pink", "PinkNoise", "pinkish {}")):
        for moved in (None, (["level"], QUIET, QUIET / 2)):
            def level(m):
                return QUIET if m is None else m

            yield Work(
                color + (", level moved" if moved else ""), lambda n, c, color=color: f"color={color} level={decibels(QUIET)} channels={c}",
                moved, forms=SIDE_BY_SIDE, sources=0,
                scsynth=each(lambda g, c, m, i, unit=unit: g.mul(g.unit(unit), level(m))),
                csound=each(lambda g, c, m, i, opcode=opcode: g.a(opcode.format(level(m)))),
                pd=color == "white" and each(lambda g, c, m, i: g.obj("*~" if m else f"*~ {QUIET}", g.obj("noise~"), m)),
            )  # fmt: skip


def value_of(number, channel):
    return round(QUIET * (1 + (number * 7 + channel * 3) % 61 / 61), 6)


def values(number, channels):
    return f"level=[{','.join(str(value_of(number, c)) for c in range(channels))}] channels={channels}"


CONSTANTS = (
    Work("still", values, forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.unit("DC", value_of(i, c))),
         csound=each(lambda g, c, m, i: g.a(f"= {value_of(i, c)}")),
         pd=each(lambda g, c, m, i: g.obj(f"sig~ {value_of(i, c)}"))),
    Work("level moved", lambda n, c: f"level={QUIET} channels={c}", (["level"], QUIET, QUIET / 2), forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.binary("+", m, value_of(i, c))),
         csound=each(lambda g, c, m, i: g.a(f"= {m} + {value_of(i, c)}")),
         pd=each(lambda g, c, m, i: g.obj(f"+~ {value_of(i, c)}", m))),
)  # fmt: skip


def slow_of(number):
    """Rates that differ, since equal ones could be calculated once."""
    return round(0.5 + number % 61 / 10, 2)


def lfo(shape, scsynth=None, csound=None, pd=None):
    return Work(shape, lambda n, c: f"shape={shape} rate={slow_of(n)}Hz channels={c}", forms=SIDE_BY_SIDE, sources=0,
                scsynth=scsynth and each(lambda g, c, m, i: g.unit(scsynth[0], slow_of(i), *scsynth[1:])),
                csound=each(lambda g, c, m, i: g.a(f"lfo 1, {slow_of(i)}, {csound}")) if isinstance(csound, int) else csound,
                pd=pd and each(lambda g, c, m, i: pd(g, i)))  # fmt: skip


# Random values of Csound's begin a line at each; Pd has none of these at the rate of sound.
LFOS = (
    lfo("sine", ("SinOsc", 0), 0, lambda g, i: g.obj(f"osc~ {slow_of(i)}")),
    lfo("triangle", ("LFTri", 0), 1),
    lfo("up", ("LFSaw", 0), 4, lambda g, i: g.obj(f"phasor~ {slow_of(i)}")),
    lfo("square", ("LFPulse", 0, 0.5), 2),
    lfo("random", ("LFNoise0",), each(lambda g, c, m, i: g.a(f"randh 1, a({slow_of(i)})"))),
    lfo("wander", ("LFNoise2",), each(lambda g, c, m, i: g.a(f"randi 1, a({slow_of(i)})"))),
    Work("sine, rate moved", lambda n, c: f"rate=440Hz channels={c}", (["rate"], 440, 100), forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.unit("SinOsc", m, 0)),
         csound=each(lambda g, c, m, i: g.a(f"oscili 1, {m}")),
         pd=each(lambda g, c, m, i: g.obj("osc~", m))),
)  # fmt: skip

# --- Sources that are more than one wave


def source(title, settings, moved=None, **peers):
    """Of a frequency of each node's and channel's own, or of one where a cable moves it."""
    def stated(number, channels):
        freq = frequencies(number, channels) if moved is None else f"freq={moved[1]}Hz"
        return f"{settings} {freq} level={decibels(QUIET)} channels={channels}"

    return Work(title, stated, moved, forms=SIDE_BY_SIDE, sources=0, total=256, **peers)


def sc_pair(g, c, m, i):
    """Two operators: the second moves the first's phase by up to a quarter turn."""
    f = frequency(i, c)
    return g.mul(g.unit("SinOsc", f, g.mul(g.unit("SinOsc", f, 0), 1.5708)), QUIET)


def cs_pair(g, c, m, i):
    f = frequency(i, c)
    return g.a(f"foscili {QUIET}, {f:.3f}, 1, 1, 1.5708, -1")


def pd_pair(g, c, m, i):
    f = frequency(i, c)
    return g.obj(f"*~ {QUIET}", g.obj("cos~", g.obj("+~", g.obj(f"phasor~ {f:.3f}"), g.obj("*~ 0.25", g.obj(f"osc~ {f:.3f}")))))


FMS = (
    source("two operators", "", scsynth=each(sc_pair), csound=each(cs_pair), pd=each(pd_pair)),
    source("two operators, one with feedback", "op1.level=0% op2.level=0% op4.level=100% algorithm=8 feedback=40%",
           scsynth=each(lambda g, c, m, i: g.mul(g.unit("SinOscFB", frequency(i, c), 1.2566), QUIET))),
    source("two operators, freq moved", "", (["freq"], 440, 100),
           scsynth=each(lambda g, c, m, i: g.mul(g.unit("SinOsc", m, g.mul(g.unit("SinOsc", m, 0), 1.5708)), QUIET)),
           pd=each(lambda g, c, m, i: g.obj(f"*~ {QUIET}", g.obj("cos~", g.obj("+~", g.obj("phasor~", m), g.obj("*~ 0.25", g.obj("osc~", m))))))),
)  # fmt: skip


def detuned(number, channel, voice):
    return frequency(number, channel) * 2 ** ((voice - 3) * 6 / 1200)


def sum_of(g, signals):
    sum = signals[0]
    for signal in signals[1:]:
        sum = g.binary("+", sum, signal)
    return sum


SUPERSAWS = (
    source("seven saws", "",
           scsynth=each(lambda g, c, m, i: g.mul(sum_of(g, [g.unit("Saw", detuned(i, c, v)) for v in range(7)]), QUIET)),
           csound=each(lambda g, c, m, i: g.a("= " + " + ".join(g.a(f"vco2 {QUIET}, {detuned(i, c, v):.3f}") for v in range(7))))),
    source("seven saws, freq moved", "", (["freq"], 440, 100),
           scsynth=each(lambda g, c, m, i: g.mul(sum_of(g, [g.unit("Saw", g.mul(m, 2 ** ((v - 3) / 200))) for v in range(7)]), QUIET))),
)  # fmt: skip

# Sixteen sines each.
ADDITIVES = (
    source("sixteen partials", "",
           scsynth=each(lambda g, c, m, i: sum_of(g, [g.mul(g.unit("SinOsc", frequency(i, c) * (n + 1), 0), QUIET / (n + 1)) for n in range(16)])),
           csound=each(lambda g, c, m, i: g.a("= " + " + ".join(g.a(f"oscili {QUIET / (n + 1):.7f}, {frequency(i, c) * (n + 1):.3f}") for n in range(16))))),
    source("sixteen partials, freq moved", "", (["freq"], 440, 100),
           scsynth=each(lambda g, c, m, i: sum_of(g, [g.mul(g.unit("SinOsc", g.mul(m, n + 1), 0), QUIET / (n + 1)) for n in range(16)]))),
)  # fmt: skip

WAVETABLES = (
    source("saw", "position=50%",
           scsynth=each(lambda g, c, m, i: g.mul(g.unit("Saw", frequency(i, c)), QUIET)),
           csound=each(lambda g, c, m, i: g.a(f"vco2 {QUIET}, {frequency(i, c):.3f}"))),
    source("saw, freq moved", "position=50%", (["freq"], 440, 100),
           scsynth=each(lambda g, c, m, i: g.mul(g.unit("Saw", m), QUIET)),
           csound=each(lambda g, c, m, i: g.a(f"vco2 {QUIET}, {g.slow}"))),
)  # fmt: skip

# A tone opens the gate hundreds of times a second, so that strokes overlap.
DRUMS = tuple(
    Work(f"{sound}, struck by a tone", f"sound={sound}", forms=SIDE_BY_SIDE, total=64) for sound in ("bass", "snare", "hat", "clap")
)

DUSTS = (
    Work("impulses", lambda n, c: f"density=200Hz level={decibels(QUIET)} channels={c}", forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.mul(g.unit("Dust", 200), QUIET)),
         csound=each(lambda g, c, m, i: g.a(f"dust {QUIET}, 200"))),
)  # fmt: skip

CHAOSES = (
    Work("henon", lambda n, c: f"system=henon rate=2kHz level={decibels(QUIET)} channels={c}", forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.mul(g.unit("HenonL", 2000, 1.4, 0.3, 0, 0), QUIET))),
    Work("lorenz", lambda n, c: f"system=lorenz rate=500Hz level={decibels(QUIET)} channels={c}", forms=SIDE_BY_SIDE, sources=0,
         total=256,
         scsynth=each(lambda g, c, m, i: g.mul(g.unit("LorenzL", RATE, 10, 28, 2.667, 0.0078, 0.1, 0, 0), QUIET))),
)  # fmt: skip

GRANULARS = (
    Work("fifty a second", "file=sample.wav density=50Hz size=100ms jitter=200ms pitch=3st", forms=SIDE_BY_SIDE, widths=(1,), sources=0,
         channels=2, total=16,
         scsynth=lambda g, c, m, i: g.unit("GrainBuf", g.unit("Dust", 50), 0.1, 0, 1.189, g.unit("LFNoise0", 50), 4, 0, -1, 512, outputs=2)),
)  # fmt: skip

STRINGS = (
    Work("moved by a tone", lambda n, c: f"freq={frequency(n, 0):.3f}Hz decay=2s channels={c}", forms=SIDE_BY_SIDE, total=256,
         scsynth=each(lambda g, x, m, i: g.unit("Pluck", x, 1, 0.1, 1 / frequency(i, 0), 2, 0.4)),
         csound=each(lambda g, x, m, i: g.a(f"wguide1 {x}, {frequency(i, 0):.3f}, 8000, 0.99"))),
)  # fmt: skip

MODALS = (
    Work("sixteen modes", lambda n, c: f"freq={100 + n % 61}Hz level=-40dB", forms=SIDE_BY_SIDE, total=256,
         scsynth=each(lambda g, x, m, i: sum_of(g, [g.unit("Ringz", x, (100 + i % 61) * (n + 1), 1) for n in range(16)])),
         csound=each(lambda g, x, m, i: g.a("= " + " + ".join(g.a(f"mode {x}, {(100 + i % 61) * (n + 1)}, 100") for n in range(16))))),
)  # fmt: skip

# --- What is between


def gain_of(number):
    """On both sides of 0 dB in turns, so that a thousand in series stay where they were."""
    return 10 ** ((0.001, -0.001)[number % 2] / 20)


GAINS = (
    Work(
        "still", lambda n, c: f"gain={(0.001, -0.001)[n % 2]}dB",
        scsynth=each(lambda g, x, m, i: g.mul(x, gain_of(i))),
        csound=each(lambda g, x, m, i: g.a(f"= {x} * {gain_of(i):.8f}")),
        pd=each(lambda g, x, m, i: g.obj(f"*~ {gain_of(i):.8f}", x)),
    ),
    Work(
        "gain moved", "gain=0dB", (["gain"], 1, 0.0001),
        scsynth=each(lambda g, x, m, i: g.mul(x, m)),
        csound=each(lambda g, x, m, i: g.a(f"= {x} * {m}")),
        pd=each(lambda g, x, m, i: g.obj("*~", x, m)),
    ),
)  # fmt: skip

PAN = math.pi / 4 * 1.3


def balanced(g, xs, m, i):
    return [g.obj("*~ 0.99995", xs[0]), g.obj("*~ 0.99999", xs[1])]


PANS = (
    Work(
        "mono", "pan=0.3", widths=(1,), forms=SIDE_BY_SIDE, channels=2,
        scsynth=lambda g, xs, m, i: g.unit("Pan2", xs[0], 0.3, 1, outputs=2),
        csound=lambda g, xs, m, i: g.a(f"pan2 {xs[0]}, 0.65", 2),
        pd=lambda g, xs, m, i: [g.obj(f"*~ {math.cos(PAN):.6f}", xs[0]), g.obj(f"*~ {math.sin(PAN):.6f}", xs[0])],
    ),
    Work(
        "mono, pan moved", "pan=0.3", (["pan"], 0.3, 0.5), widths=(1,), forms=SIDE_BY_SIDE, channels=2,
        scsynth=lambda g, xs, m, i: g.unit("Pan2", xs[0], m, g.steady(1), outputs=2),
        csound=lambda g, xs, m, i: g.a(f"pan2 {xs[0]}, {m}", 2),
        pd=lambda g, xs, m, i: [g.obj("*~", xs[0], g.obj("cos~", m)), g.obj("*~", xs[0], g.obj("cos~", g.obj("+~ -0.25", m)))],
    ),
    Work(
        "stereo", "pan=0.0001", widths=(2,),
        scsynth=lambda g, xs, m, i: [g.mul(xs[0], 0.99995), g.mul(xs[1], 0.99999)],
        csound=lambda g, xs, m, i: [g.a(f"= {xs[0]} * 0.99995"), g.a(f"= {xs[1]} * 0.99999")],
        pd=balanced,
    ),
    Work(
        # In a series of them scsynth's is silent.
        "stereo, pan moved", "pan=0", (["pan"], 0, 0.0005), widths=(2,), forms=SIDE_BY_SIDE,
        scsynth=lambda g, xs, m, i: g.unit("Balance2", *xs, m, g.steady(1), outputs=2),
    ),
)  # fmt: skip


def pairs(function):
    """Of the signals of several cables, those of each channel."""
    return lambda g, xs, m, i: [function(g, xs[c :: len(xs) // 4]) for c in range(len(xs) // 4)]


MIXES = (
    Work(
        "of four cables", sources=4,
        scsynth=pairs(lambda g, xs: g.unit("Sum4", *xs)),
        csound=pairs(lambda g, xs: g.a("= " + " + ".join(xs))),
        pd=pairs(lambda g, xs: g.obj("+~", xs[:2], xs[2:])),
    ),
)  # fmt: skip


def placed(g, xs, m, i):
    """Each channel at its place: a factor for either side."""
    sides = []
    for gain in (0.8, 0.6):
        sum = g.mul(xs[0], gain)
        for x in xs[1:]:
            sum = g.mul_add(x, gain, sum)
        sides.append(sum)
    return sides


MIXDOWNS = (
    Work(
        "at rest", "spread=70%", forms=SIDE_BY_SIDE, channels=2, scsynth=placed,
        csound=lambda g, xs, m, i: [g.a("= " + " + ".join(f"{x}*{gain}" for x in xs)) for gain in (0.8, 0.6)],
    ),
)  # fmt: skip


def crosspoint(source, target, width):
    """One is above 0 dB; the sums are about one."""
    if source == target == 0:
        return 1.01
    return (1.9 if (source + target) % 3 == 0 else 0.4) / width


def open_points(name, number, width):
    return [f"set {name}[{i},{o}] {decibels(crosspoint(i, o, width))}" for i in range(width) for o in range(width)]


def sc_matrix(g, xs, m, i):
    outputs = []
    for o in range(len(xs)):
        sum = g.mul(xs[0], crosspoint(0, o, len(xs)))
        for source in range(1, len(xs)):
            sum = g.mul_add(xs[source], crosspoint(source, o, len(xs)), sum)
        outputs.append(sum)
    return outputs


MATRICES = (
    Work(
        "all open", lambda n, c: f"inputs={c} outputs={c}", widths=(2, 8, 64), lines=open_points, total=256,
        scsynth=sc_matrix,
        csound=lambda g, xs, m, i: [
            g.a("= " + " + ".join(f"{x} * {crosspoint(s, o, len(xs)):.6f}" for s, x in enumerate(xs))) for o in range(len(xs))
        ],
        pd=lambda g, xs, m, i: [
            g.obj("+~", [g.obj(f"*~ {crosspoint(s, o, len(xs)):.6f}", x) for s, x in enumerate(xs)]) for o in range(len(xs))
        ],
    ),
)  # fmt: skip

def little(number):
    """On both sides of zero in turns."""
    return (1e-6, -1e-6)[number % 2]


ADDS = (
    Work("still", lambda n, c: f"value={little(n):.6f}",
         scsynth=each(lambda g, x, m, i: g.binary("+", x, little(i))),
         csound=each(lambda g, x, m, i: g.a(f"= {x} + {little(i):.6f}")),
         pd=each(lambda g, x, m, i: g.obj(f"+~ {little(i):.6f}", x))),
    Work("another node at value", "value=0", (["value"], 0, 1e-6),
         scsynth=each(lambda g, x, m, i: g.binary("+", x, m)),
         csound=each(lambda g, x, m, i: g.a(f"= {x} + {m}")),
         pd=each(lambda g, x, m, i: g.obj("+~", x, m))),
)  # fmt: skip

PRODUCTS = (
    Work("factor", lambda n, c: f"factor={gain_of(n):.8f}",
         scsynth=each(lambda g, x, m, i: g.mul(x, gain_of(i))),
         csound=each(lambda g, x, m, i: g.a(f"= {x} * {gain_of(i):.8f}")),
         pd=each(lambda g, x, m, i: g.obj(f"*~ {gain_of(i):.8f}", x))),
    Work("of two nodes", "", (["with"], 0, 1), forms=SIDE_BY_SIDE,
         scsynth=each(lambda g, x, m, i: g.mul(x, m)),
         csound=each(lambda g, x, m, i: g.a(f"= {x} * {m}")),
         pd=each(lambda g, x, m, i: g.obj("*~", x, m))),
)  # fmt: skip


def two_tones(function):
    """Of the channels of two cables, those that belong together."""
    return lambda g, xs, m, i: [function(g, xs[c], xs[len(xs) // 2 + c], m, i) for c in range(len(xs) // 2)]


CROSSFADES = (
    Work("linear", "mix=30%", forms=SIDE_BY_SIDE, sources=2, into="b",
         scsynth=two_tones(lambda g, a, b, m, i: g.unit("LinXFade2", a, b, -0.4, 1)),
         csound=two_tones(lambda g, a, b, m, i: g.a(f"= 0.7 * {a} + 0.3 * {b}")),
         pd=two_tones(lambda g, a, b, m, i: g.obj("+~", g.obj("*~ 0.7", a), g.obj("*~ 0.3", b)))),
    Work("power, mix moved", "mix=50% law=power", (["mix"], 50, 40), forms=SIDE_BY_SIDE, sources=2, into="b", at=(0, 0.8),
         scsynth=two_tones(lambda g, a, b, m, i: g.unit("XFade2", a, b, m, 1))),
)  # fmt: skip

# --- Filters: their corners are far above the tones, which pass a thousand of them.

CORNER, Q = 13000, 0.6


def biquad(b0, b1, b2, a0, a1, a2):
    return f"biquad~ {-a1 / a0:.8f} {-a2 / a0:.8f} {b0 / a0:.8f} {b1 / a0:.8f} {b2 / a0:.8f}"


def angle(freq, q):
    """Of the formulas of Robert Bristow-Johnson's cookbook: the cosine and alpha."""
    return math.cos(2 * math.pi * freq / RATE), math.sin(2 * math.pi * freq / RATE) / 2 / q


def low_pass(freq, q):
    c, alpha = angle(freq, q)
    return biquad((1 - c) / 2, 1 - c, (1 - c) / 2, 1 + alpha, -2 * c, 1 - alpha)


def high_pass(freq, q):
    c, alpha = angle(freq, q)
    return biquad((1 + c) / 2, -1 - c, (1 + c) / 2, 1 + alpha, -2 * c, 1 - alpha)


FILTERS = (
    Work(
        "low-pass", f"freq={CORNER}Hz q={Q}",
        scsynth=each(lambda g, x, m, i: g.unit("BLowPass", x, CORNER, 1 / Q)),
        csound=each(lambda g, x, m, i: g.a(f"lowpass2 {x}, {CORNER}, {Q}")),
        pd=each(lambda g, x, m, i: g.obj(low_pass(CORNER, Q), x)),
    ),
    Work(
        "high-pass", "type=highpass freq=11Hz q=0.6", forms=SIDE_BY_SIDE,
        scsynth=each(lambda g, x, m, i: g.unit("BHiPass", x, 11, 1 / Q)),
        csound=each(lambda g, x, m, i: g.a(f"zdf_2pole {x}, 11, {Q}, 1")),
        pd=each(lambda g, x, m, i: g.obj(high_pass(11, Q), x)),
    ),
    Work(
        "low-pass, freq moved", f"freq={CORNER}Hz q={Q}", (["freq"], CORNER, 1000),
        scsynth=each(lambda g, x, m, i: g.unit("BLowPass", x, m, g.steady(1 / Q))),
        csound=each(lambda g, x, m, i: g.a(f"zdf_2pole {x}, {m}, {Q}, 0")),
        # With less resonance, so near the top, its low-pass is silent.
        pd=alone(each(lambda g, x, m, i: (g.obj("vcf~ 5", x, m)[0], 1))),
    ),
    Work(
        "low-pass, q moved", f"freq={CORNER}Hz q={Q}", (["q"], Q, 0.05),
        scsynth=each(lambda g, x, m, i: g.unit("BLowPass", x, g.steady(CORNER), m)),
        csound=each(lambda g, x, m, i: g.a(f"zdf_2pole {x}, {CORNER}, {m}, 0")),
    ),
)  # fmt: skip

BANDS = ((2100, 3, 0.7), (3900, -2, 1.1), (6300, 2.5, 0.9), (9700, -3, 1.3))


def bands(number):
    """Every other node takes away what the one before it added."""
    return [(freq, gain * (-1) ** number, q) for freq, gain, q in BANDS]


def stated_bands(number, channels):
    return "bands=4 " + " ".join(
        f"band{b}.freq={freq}Hz band{b}.gain={gain}dB band{b}.q={q}" for b, (freq, gain, q) in enumerate(bands(number), 1)
    )


def peak(freq, gain, q):
    c, alpha = angle(freq, q)
    a = 10 ** (gain / 40)
    return biquad(1 + alpha * a, -2 * c, 1 - alpha * a, 1 + alpha / a, -2 * c, 1 - alpha / a)


def sc_bands(freq=None, gain=None, q=None, all=False):
    """The first band, or all of them, with the moving signal in one place; then the others are signals too."""

    def node(g, x, m, i):
        for number, band in enumerate(bands(i)):
            places = list(band)
            if all or number == 0:
                moved = [k for k, flag in enumerate((freq, gain, q)) if flag]
                places = [m if k in moved else g.steady(1 / v if k == 2 else v) for k, v in enumerate(band)] if moved else places
            if not isinstance(places[2], tuple):
                places[2] = 1 / places[2]
            x = g.unit("BPeakEQ", x, places[0], places[2], places[1])
        return x

    return each(node)


def cs_bands(place=None, all=False):
    def node(g, x, m, i):
        for number, (freq, gain, q) in enumerate(bands(i)):
            values = [freq, f"{10 ** (gain / 20):.6f}", q]
            if place is not None and (all or number == 0):
                values[place] = g.slow
            x = g.a(f"rbjeq {x}, {values[0]}, {values[1]}, {values[2]}, 1, 8")
        return x

    return each(node)


def pd_bands(g, x, m, i):
    for band in bands(i):
        x = g.obj(peak(*band), x)
    return x


EQUALIZERS = (
    Work("four bands", stated_bands, total=256, scsynth=sc_bands(), csound=cs_bands(), pd=each(pd_bands)),
    Work("band1.freq moved", stated_bands, (["band1.freq"], 2100, 100), total=256, scsynth=sc_bands(freq=True), csound=cs_bands(0)),
    Work("band1.gain moved", stated_bands, (["band1.gain"], 1, 0.05), total=256, scsynth=sc_bands(gain=True), csound=cs_bands(1)),
    Work("band1.q moved", stated_bands, (["band1.q"], 0.7, 0.1), total=256, scsynth=sc_bands(q=True), csound=cs_bands(2)),
    Work("all frequencies moved", stated_bands, ([f"band{b}.freq" for b in (1, 2, 3, 4)], 2100, 100), total=256,
         scsynth=sc_bands(freq=True, all=True), csound=cs_bands(0, all=True)),
)  # fmt: skip

DRIVE = 10 ** (7 / 20)


def distorted(shape, oversample=1, more="", **rest):
    return Work(f"{shape} at {oversample}x" + rest.pop("title", ""), f"shape={shape} drive=7dB oversample={oversample} {more}", **rest)


def sc_tanh(g, x):
    return g.unary("tanh", g.mul(x, DRIVE))


def cs_tanh(g, x):
    return g.a("tanh " + cs_driven(g, x))


def cs_driven(g, x):
    return g.a(f"= {x} * {DRIVE:.6f}")


DISTORTIONS = (
    distorted("tanh",
        scsynth=each(lambda g, x, m, i: sc_tanh(g, x)),
        csound=each(lambda g, x, m, i: cs_tanh(g, x))),
    distorted("fold",
        scsynth=each(lambda g, x, m, i: g.binary("fold2", g.mul(x, DRIVE), 1)),
        csound=each(lambda g, x, m, i: g.a(f"mirror {cs_driven(g, x)}, -1, 1"))),
    distorted("hard",
        scsynth=each(lambda g, x, m, i: g.binary("clip2", g.mul(x, DRIVE), 1)),
        csound=each(lambda g, x, m, i: g.a(f"limit {cs_driven(g, x)}, -1, 1")),
        pd=each(lambda g, x, m, i: g.obj("clip~ -1 1", g.obj(f"*~ {DRIVE:.6f}", x)))),
    distorted("tanh", title=", drive moved", moved=(["drive"], DRIVE, 0.3),
        scsynth=each(lambda g, x, m, i: g.unary("tanh", g.mul(x, m))),
        csound=each(lambda g, x, m, i: g.a(f"tanh {g.a(f'= {x} * {m}')}"))),
    distorted("tanh", title=", tone", more="tone=0.2",
        scsynth=each(lambda g, x, m, i: (lambda y: g.mul_add(g.unit("OnePole", y, 0.87), 0.2, y))(sc_tanh(g, x))),
        csound=each(lambda g, x, m, i: (lambda y: g.a(f"= {y} + 0.2 * {g.a(f'tone {y}, 1000')}"))(cs_tanh(g, x)))),
    distorted("tanh", title=", tone moved", moved=(["tone"], 0, 0.1),
        scsynth=each(lambda g, x, m, i: (lambda y: g.mul_add(g.unit("OnePole", y, 0.87), m, y))(sc_tanh(g, x))),
        csound=each(lambda g, x, m, i: (lambda y: g.a(f"= {y} + {m} * {g.a(f'tone {y}, 1000')}"))(cs_tanh(g, x)))),
    distorted("tanh", title=", mix moved", more="mix=50%", moved=(["mix"], 50, 10), at=(0.5, 0.1),
        scsynth=each(lambda g, x, m, i: g.mul_add(g.binary("-", sc_tanh(g, x), x), m, x)),
        csound=each(lambda g, x, m, i: g.a(f"= {x} + {m} * (" + cs_tanh(g, x) + f" - {x})"))),
    distorted("tanh", 2, total=256), distorted("fold", 2, total=256), distorted("hard", 2, total=256),
    distorted("tanh", 4, total=256), distorted("hard", 4, total=256),
    distorted("tanh", 2, title=", drive moved", moved=(["drive"], DRIVE, 0.3), total=256),
)  # fmt: skip


def seconds_of(number):
    return 0.005 + number % 97 * 0.0003


def frames_of(number, more=0.0):
    return (round(seconds_of(number) * RATE) + more) / RATE


# A feedback of 35 % is 60 dB down after this many rounds.
ROUNDS = math.log(1000) / -math.log(0.35)
ECHO = "feedback=35% mix=35%"


def echo(unit, more=0.0):
    def node(g, x, m, i):
        time = frames_of(i, more)
        return g.mul_add(g.unit(unit, x, 0.05, time, time * ROUNDS), 0.35, g.mul(x, 0.65))

    return each(node)


def pd_echo(shift=None, feedback=None, mix=None):
    def node(g, x, m, i):
        g.echoes = getattr(g, "echoes", 0) + 1
        name, time = f"d{g.echoes}", frames_of(i, 0.5 if shift == "half" else 0) * 1000
        if shift == "moved":
            read = g.obj(f"delread4~ {name}", m)
        elif shift == "half":
            read = g.obj(f"delread4~ {name}", g.obj(f"sig~ {time:.4f}"))
        else:
            read = g.obj(f"delread~ {name} {time:.4f}")
        back = g.obj("*~", read, m) if feedback else g.obj("*~ 0.35", read)
        g.obj(f"delwrite~ {name} 50", [x, back])
        if mix:
            return g.obj("+~", x, g.obj("*~", g.obj("-~", read, x), m))
        return g.obj("+~", g.obj("*~ 0.65", x), g.obj("*~ 0.35", read))

    return each(node)


def cs_echo(delayed, mix=None):
    def node(g, x, m, i):
        wet = g.a(delayed(g, x, m, i))
        return g.a(f"= {x} + ({wet} - {x}) * {m}" if mix else f"= 0.65 * {x} + 0.35 * {wet}")

    return each(node)


def cs_comb(g, x, m, i):
    return f"comb {x}, {frames_of(i) * ROUNDS:.6f}, {frames_of(i):.8f}"


# More in a row let nothing of the tone through, or blast at what they resound at.
DELAYS = (
    Work("still", lambda n, c: f"time={frames_of(n):.7f}s {ECHO}", total=64,
         scsynth=echo("CombN"), csound=cs_echo(cs_comb), pd=pd_echo()),
    Work("half a frame", lambda n, c: f"time={frames_of(n):.7f}s {ECHO} shift={0.5 / RATE:.9f}s", total=64,
         scsynth=echo("CombC", 0.5), pd=pd_echo(shift="half"),
         csound=cs_echo(lambda g, x, m, i: f"flanger {x}, a({frames_of(i, 0.5):.8f}), 0.35")),
    Work("shift moved", lambda n, c: f"time=20ms {ECHO}", (["shift"], 0, 0.001), at=(0.02, 0.001), total=64,
         scsynth=each(lambda g, x, m, i: g.mul_add(g.unit("CombC", x, 0.05, m, 0.13), 0.35, g.mul(x, 0.65))),
         csound=cs_echo(lambda g, x, m, i: f"flanger {x}, {m}, 0.35")),
    Work("feedback moved", lambda n, c: f"time={frames_of(n):.7f}s {ECHO}", (["feedback"], 35, 5), at=(0.35, 0.05), total=64,
         scsynth=each(lambda g, x, m, i: g.mul_add(g.unit("CombN", x, 0.05, frames_of(i), m), 0.35, g.mul(x, 0.65))),
         csound=cs_echo(lambda g, x, m, i: f"flanger {x}, a({frames_of(i):.8f}), {g.slow}"), pd=pd_echo(feedback=True)),
    Work("mix moved", lambda n, c: f"time={frames_of(n):.7f}s {ECHO}", (["mix"], 35, 5), at=(0.35, 0.05), total=64,
         scsynth=each(lambda g, x, m, i: g.mul_add(g.binary("-", g.unit("CombN", x, 0.05, frames_of(i), frames_of(i) * ROUNDS), x), m, x)),
         csound=cs_echo(cs_comb, mix=True), pd=pd_echo(mix=True)),
)  # fmt: skip

# --- Ring modulators: little of them, so that something is left at the end of a series.

RING = 0.005


def sc_ring(g, x, carrier):
    """The tone times what is left of it and what is turned."""
    return g.mul(x, g.mul_add(carrier, RING, 1 - RING))


def pd_ring(g, x, carrier):
    return g.obj("*~", x, g.obj(f"+~ {1 - RING}", g.obj(f"*~ {RING}", carrier)))


RINGS = (
    Work("still", lambda n, c: f"freq={frequency(n, 0):.2f}Hz mix={100 * RING}%",
         scsynth=each(lambda g, x, m, i: sc_ring(g, x, g.unit("SinOsc", frequency(i, 0), 0))),
         csound=each(lambda g, x, m, i: g.a(f"= {x} * ({1 - RING} + " + g.a(f"oscili {RING}, {frequency(i, 0):.2f}") + ")")),
         pd=each(lambda g, x, m, i: pd_ring(g, x, g.obj(f"osc~ {frequency(i, 0):.2f}")))),
    Work("freq moved", f"freq=440Hz mix={100 * RING}%", (["freq"], 440, 100),
         scsynth=each(lambda g, x, m, i: sc_ring(g, x, g.unit("SinOsc", m, 0))),
         csound=each(lambda g, x, m, i: g.a(f"= {x} * ({1 - RING} + " + g.a(f"oscili {RING}, {m}") + ")")),
         pd=each(lambda g, x, m, i: pd_ring(g, x, g.obj("osc~", m)))),
    Work("mix moved", lambda n, c: f"freq={frequency(n, 0):.2f}Hz mix={100 * RING}%", (["mix"], 100 * RING, 10 * RING), at=(RING, RING / 10),
         scsynth=each(lambda g, x, m, i: g.mul_add(g.binary("-", g.mul(x, g.unit("SinOsc", frequency(i, 0), 0)), x), m, x)),
         csound=each(lambda g, x, m, i: g.a(f"= {x} + {m} * ({x} * " + g.a(f"oscili 1, {frequency(i, 0):.2f}") + f" - {x})")),
         pd=each(lambda g, x, m, i: g.obj("+~", x, g.obj("*~", g.obj("-~", g.obj("*~", x, g.obj(f"osc~ {frequency(i, 0):.2f}")), x), m)))),
    Work("another node as carrier", f"mix={100 * RING}%", (["carrier"], 0, 1),
         scsynth=each(lambda g, x, m, i: sc_ring(g, x, m)),
         csound=each(lambda g, x, m, i: g.a(f"= {x} * ({1 - RING} + {RING} * {m})")),
         pd=each(lambda g, x, m, i: pd_ring(g, x, m))),
)  # fmt: skip

# --- Dynamics: little of them, so that something is left at the end of a series.

SQUEEZE = 1.0005
LOUDNESS = "threshold=-70dB ratio=1.0005 attack=10ms release=100ms"


def sc_compander(g, x, key, below=1.0, above=1 / SQUEEZE, threshold=10 ** (-70 / 20)):
    return g.unit("Compander", x, key, threshold, below, above, 0.01, 0.1)


def on_block(g, x, m):
    """Csound's thresholds are taken once a block."""
    return g.a(f"dam {x}, {m}, {1 / SQUEEZE:.6f}, 1, 0.01, 0.1")


COMPRESSORS = (
    Work("still", f"{LOUDNESS} knee=0dB", total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x)),
         csound=each(lambda g, x, m, i: on_block(g, x, 10 ** (-70 / 20)))),
    Work("each channel for itself", f"{LOUDNESS} knee=0dB link=off", widths=(2, 64), total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x)),
         csound=each(lambda g, x, m, i: on_block(g, x, 10 ** (-70 / 20)))),
    Work("threshold moved", f"{LOUDNESS} knee=0dB", (["threshold"], 0.0003, 0.0002), total=256,
         csound=each(lambda g, x, m, i: on_block(g, x, g.slow))),
    Work("another node beside", f"{LOUDNESS} knee=0dB", (["sidechain"], 0, 0.002), total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, m))),
)  # fmt: skip

GATES = (
    Work("open", "threshold=-60dB hold=50ms", total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x, 10, 1, 0.001))),
    Work("each channel for itself", "threshold=-60dB hold=50ms link=off", widths=(2, 64), total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x, 10, 1, 0.001))),
    Work("shut", "threshold=-40dB range=-0.01dB", total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x, 1.001, 1, 0.01))),
)  # fmt: skip

# --- Limiters: at work scsynth's is no measure, since it has no release and knows of no peaks between frames.

LIMITERS = (
    Work("quiet", "ceiling=-1dB", total=256,
         scsynth=each(lambda g, x, m, i: g.unit("Limiter", x, 0.9, 0.0013))),
    Work("at work, of frames", "ceiling=-60dB peaks=sample", total=256),
    Work("at work", "ceiling=-60dB", total=256),
)  # fmt: skip

# --- Rooms

ROOM = "decay=2s size=50% damp=50% mix=30%"

REVERBS = (
    Work("one channel", f"{ROOM} channels=1", widths=(1,), total=32,
         scsynth=each(lambda g, x, m, i: g.unit("FreeVerb", x, 0.3, 0.6, 0.5)),
         csound=lambda g, xs, m, i: g.a(f"freeverb {xs[0]}, {xs[0]}, 0.6, 0.5", 2)[:1]),
    Work("stereo", ROOM, widths=(2,), total=64,
         scsynth=lambda g, xs, m, i: g.unit("FreeVerb2", *xs, 0.3, 0.6, 0.5, outputs=2),
         csound=lambda g, xs, m, i: g.a(f"reverbsc {xs[0]}, {xs[1]}, 0.8, 12000", 2)),
    Work("decay moved", ROOM, (["decay"], 2, 0.5), widths=(2,), total=64, at=(0.6, 0.1),
         csound=lambda g, xs, m, i: g.a(f"reverbsc {xs[0]}, {xs[1]}, {g.slow}, 12000", 2)),
)  # fmt: skip

# --- Sweeps

SWEEP = 0.0005


def sc_taps(g, x, voices):
    """Copies by cubic interpolation, each with a sine of its own."""
    taps = []
    for voice in range(voices):
        time = g.unit("MulAdd", g.unit("SinOsc", 0.5, 6.283 * voice / voices), 0.002, 0.014)
        taps.append(g.unit("DelayC", x, 0.05, time))
    wet = taps[0] if voices == 1 else g.binary("+", *taps)
    return g.mul_add(wet, 0.35, g.mul(x, 0.5))


def cs_taps(g, x, voices):
    """By linear interpolation."""
    taps = [g.a(f"flanger {x}, {g.a(f'oscili 0.002, 0.5, -1, {voice / voices}')} + 0.014, 0") for voice in range(voices)]
    return g.a(f"= 0.5 * {x} + 0.35 * ({' + '.join(taps)})")


CHORUSES = (
    Work("two voices", "mix=50%", forms=SIDE_BY_SIDE, total=128,
         scsynth=each(lambda g, x, m, i: sc_taps(g, x, 2)), csound=each(lambda g, x, m, i: cs_taps(g, x, 2))),
    Work("depth moved", "mix=50%", (["depth"], 0.004, 0.001), forms=SIDE_BY_SIDE, total=128, at=(0.002, 0.0005)),
)  # fmt: skip

FLANGERS = (
    Work("with feedback", "feedback=35% delay=1ms", forms=SIDE_BY_SIDE, total=128,
         scsynth=each(lambda g, x, m, i: g.mul_add(g.unit("CombC", x, 0.05, g.unit("MulAdd", g.unit("SinOsc", 0.5, 0), 0.0015, 0.0025), 0.13), 0.5, g.mul(x, 0.5))),
         csound=each(lambda g, x, m, i: g.a(f"= 0.5 * {x} + 0.5 * " + g.a(f"flanger {x}, {g.a('oscili 0.0015, 0.5')} + 0.0025, 0.35")))),
    Work("feedback moved", "delay=1ms", (["feedback"], 35, 5), forms=SIDE_BY_SIDE, total=128, at=(0.35, 0.05),
         csound=each(lambda g, x, m, i: g.a(f"= 0.5 * {x} + 0.5 * " + g.a(f"flanger {x}, {g.a('oscili 0.0015, 0.5')} + 0.0025, {g.slow}")))),
)  # fmt: skip

PHASERS = (
    Work("six stages", "stages=6 feedback=30%", forms=SIDE_BY_SIDE, total=128,
         csound=each(lambda g, x, m, i: g.a(f"= 0.5 * {x} + 0.5 * " + g.a(f"phaser1 {x}, k({g.a('oscili 400, 0.5')} + 800), 6, 0.3")))),
    Work("freq moved", "stages=6 feedback=30%", (["freq"], 800, 300), forms=SIDE_BY_SIDE, total=128,
         csound=each(lambda g, x, m, i: g.a(f"= 0.5 * {x} + 0.5 * " + g.a(f"phaser1 {x}, k({m}), 6, 0.3")))),
)  # fmt: skip

# --- Filters of more outputs and poles. Csound's ladder saturates at twice the rate too.

def cs_split(g, x, m, i):
    low = g.a(f"butterlp {g.a(f'butterlp {x}, {CORNER}')}, {CORNER}")
    return g.a(f"= {low} + " + g.a(f"butterhp {g.a(f'butterhp {x}, {CORNER}')}, {CORNER}"))


def sc_split(g, x, m, i):
    high = g.unit("HPF", g.unit("HPF", x, CORNER), CORNER)
    return g.binary("+", g.unit("LPF", g.unit("LPF", x, CORNER), CORNER), high)


LADDERS = (
    Work("low-pass", "freq=13kHz resonance=10%", forms=SIDE_BY_SIDE, total=128,
         csound=each(lambda g, x, m, i: g.a(f"moogladder {x}, {CORNER}, 0.1"))),
    Work("low-pass, freq moved", "freq=13kHz resonance=10%", (["freq"], CORNER, 1000), forms=SIDE_BY_SIDE, total=128,
         csound=each(lambda g, x, m, i: g.a(f"moogladder {x}, {m}, 0.1"))),
)  # fmt: skip

STATE_VARIABLES = (
    Work("all outputs", f"freq={CORNER}Hz q={Q}", forms=SIDE_BY_SIDE, total=256,
         csound=each(lambda g, x, m, i: g.a(f"zdf_2pole_mode {x}, {CORNER}, {Q}", 3)[0])),
    Work("freq moved", f"freq={CORNER}Hz q={Q}", (["freq"], CORNER, 1000), forms=SIDE_BY_SIDE, total=256,
         csound=each(lambda g, x, m, i: g.a(f"zdf_2pole_mode {x}, {m}, {Q}", 3)[0])),
    Work("saturated", f"freq={CORNER}Hz q={Q} saturate=on", forms=SIDE_BY_SIDE, total=128),
)  # fmt: skip

CROSSOVERS = (
    Work("two bands", f"freq1={CORNER}Hz", forms=SIDE_BY_SIDE, total=256, scsynth=each(sc_split), csound=each(cs_split)),
    Work("four bands", f"bands=4 freq1={CORNER}Hz", forms=SIDE_BY_SIDE, total=128),
)  # fmt: skip

# --- Waves bent and broken. Of the peers none antialiases.

def cs_shift(g, x, m, i):
    first, second = g.a(f"hilbert {x}", 2)
    sine, cosine = (g.a(f"oscili 1, {slow_of(i)}, -1, {phase}") for phase in (0, 0.25))
    return g.a(f"= {first} * {cosine} - {second} * {sine}")


SHIFTERS = (
    Work("still", lambda n, c: f"shift={slow_of(n)}Hz", forms=SIDE_BY_SIDE, total=256,
         scsynth=each(lambda g, x, m, i: g.unit("FreqShift", x, slow_of(i), 0)), csound=each(cs_shift)),
    Work("shift moved", "shift=5Hz", (["shift"], 5, 1), forms=SIDE_BY_SIDE, total=256,
         scsynth=each(lambda g, x, m, i: g.unit("FreqShift", x, m, g.steady(0)))),
)  # fmt: skip

CRUSHERS = (
    Work("every fourth frame", "rate=12kHz bits=16 antialias=off", forms=SIDE_BY_SIDE, total=256,
         csound=each(lambda g, x, m, i: g.a(f"= round({g.a(f'fold {x}, 4')} * 32768) / 32768"))),
    Work("antialiased", "rate=11kHz bits=16", forms=SIDE_BY_SIDE, total=128),
)  # fmt: skip

SHAPERS = (Work("nine points", "y3=-0.9 y7=0.9", forms=SIDE_BY_SIDE, total=128),)

EXPANDERS = (
    Work("still", "threshold=-60dB ratio=2 knee=0dB", total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x, 2, 1, 0.001))),
    Work("each channel for itself", "threshold=-60dB ratio=2 knee=0dB link=off", widths=(2, 64), total=256,
         scsynth=each(lambda g, x, m, i: sc_compander(g, x, x, 2, 1, 0.001))),
)  # fmt: skip

TRANSIENTS = (Work("still", "attack=6dB sustain=-3dB", forms=SIDE_BY_SIDE, total=256),)

# Csound's convolution in parts of 1024 frames is as many late; ours is not.
# A waveguide is a delay with a low-pass in its loop.
ECHOES = (
    Work("still", lambda n, c: f"time={frames_of(n):.7f}s {ECHO} longest=0.1s", total=256,
         csound=cs_echo(lambda g, x, m, i: f"wguide1 {x}, {1 / frames_of(i):.6f}, 6000, 0.35")),
    Work("time moved", lambda n, c: f"time=20ms {ECHO} lag=0s longest=0.1s", (["time"], 0, 0.001), at=(50, 1), total=256, forms=SIDE_BY_SIDE,
         csound=cs_echo(lambda g, x, m, i: f"wguide1 {x}, {m}, 6000, 0.35")),
)  # fmt: skip

EXCITERS = (
    Work("still", "freq=100Hz", total=64, forms=SIDE_BY_SIDE,
         csound=each(lambda g, x, m, i: g.a(f"exciter {x}, 100, 20000, 10, 10"))),
)  # fmt: skip

# scsynth's grains do not look for what is alike, so that a tone beats: that is less.
PITCHSHIFTS = (
    Work("a fifth", "pitch=7st", forms=SIDE_BY_SIDE, widths=(1, 2), total=32,
         csound=each(lambda g, x, m, i: g.a(f"pvsynth {g.kept(f'pvscale {pvs(g, x)}, 1.4983', 'f')}"))),
)  # fmt: skip


def pvs(g, x):
    return g.kept(f"pvsanal {x}, 2048, 512, 2048, 1", "f")


LOOPERS = (
    Work("playing", lambda n, c: f"mode=record beats=1 longest=1s channels={c}", forms=SIDE_BY_SIDE, widths=(1, 2), total=64,
         csound=each(lambda g, x, m, i: g.kept(f"sndloop {x}, 1, 1, 0.5, 0.01", "a", 2, "k"))),
)  # fmt: skip

CONVOLUTIONS = (
    Work("two seconds", lambda n, c: f"file=sample.wav length=3s channels={c}", forms=SIDE_BY_SIDE, widths=(1, 2), total=16,
         csound=each(lambda g, x, m, i: g.a(f"ftconv {x}, gi1, 1024"))),
)  # fmt: skip

# --- Samples: the peers interpolate by four points.

VOICES = 128


def voice_rate(number):
    return 0.5 * 2 ** (2 * number / (VOICES - 1))


def sc_voices(rate=None, level=None):
    def node(g, xs, m, i):
        outputs = [[], []]
        for voice in range(VOICES):
            wave = g.unit("PlayBuf", 0, m if rate else voice_rate(voice), 1, 0, 1, 0)
            for side in (0, 1):
                outputs[side].append(g.mul(wave, m if level else QUIET * (1 + voice % 2)))
                g.fold(outputs[side])
        return [g.binary("+", sum[0], sum[1]) if len(sum) > 1 else sum[0] for sum in outputs]

    return node


def cs_voices(rate=None, level=None):
    def node(g, xs, m, i):
        outputs = [[], []]
        for voice in range(VOICES):
            if rate:
                wave = g.a("table3 " + g.a(f"phasor {RATE / SAMPLE_FRAMES} * {m}") + ", 1, 1")
            else:
                wave = g.a(f"loscil3 1, {voice_rate(voice):.8f}, 1, 1, 1, 0, {SAMPLE_FRAMES - 1}")
            for side in (0, 1):
                outputs[side].append(g.a(f"= {wave} * " + (m if level else f"{QUIET * (1 + voice % 2)}")))
                g.fold(outputs[side])
        return [sum[0] for sum in outputs]

    return node


def pd_wave(g, rate):
    cycle = g.obj(f"phasor~ {rate * RATE / (SAMPLE_FRAMES - 3):.8f}") if isinstance(rate, (int, float)) \
        else g.obj("phasor~", g.obj(f"*~ {RATE / (SAMPLE_FRAMES - 3):.8f}", rate))  # fmt: skip
    return g.obj("tabread4~ sample", g.obj("+~ 1", g.obj(f"*~ {SAMPLE_FRAMES - 3}", cycle)))


def pd_voices(rate=None, level=None):
    def node(g, xs, m, i):
        waves = [pd_wave(g, m if rate else voice_rate(voice)) for voice in range(VOICES)]
        return [g.obj("+~", [g.obj("*~", w, m) if level else g.obj(f"*~ {QUIET * (1 + v % 2)}", w) for v, w in enumerate(waves)])
                for _ in (0, 1)]  # fmt: skip

    return node


def voices(title, quality, moved=None, at=None, **place):
    return Work(
        title, f"instrument=voices.sfz polyphony={VOICES} level=-40dB quality={quality}", moved, at, widths=(2,), forms=SIDE_BY_SIDE,
        sources=0, events=VOICES, channels=2,
        scsynth=sc_voices(**place), csound=cs_voices(**place), pd=pd_voices(**place))  # fmt: skip


SAMPLERS = (
    voices("128 voices, 4-point", "4-point"),
    voices("128 voices, 8-point", "8-point"),
    voices("128 voices, sinc", "sinc"),
    voices("128 voices, 4-point, tune moved", "4-point", (["tune"], 0, 100), (1, 0.05), rate=True),
    voices("128 voices, 4-point, level moved", "4-point", (["level"], 0.01, 0.005), (QUIET, QUIET / 2), level=True),
)


def player(title, rate, moved=None, at=None):
    by_rate, by_level = (moved is not None and moved[0] == [port] for port in ("rate", "level"))

    def scsynth(g, xs, m, i):
        played = g.unit("PlayBuf", len(xs) - 1, m if by_rate else rate, 1, 0, 1, 0, outputs=len(xs))
        return [g.mul(x, m if by_level else QUIET) for x in (played if len(xs) > 1 else [played])]

    def csound(g, xs, m, i):
        if by_rate or len(xs) > 1:
            phase = g.a(f"phasor {RATE / SAMPLE_FRAMES} * {m if by_rate else rate}")
            waves = [g.a(f"table3 {phase}, {c + (2 if len(xs) > 1 else 1)}, 1") for c in xs]
        else:
            waves = [g.a(f"loscil3 1, {rate}, 1, 1, 1, 0, {SAMPLE_FRAMES - 1}")]
        return [g.a(f"= {x} * {m if by_level else QUIET}") for x in waves]

    def pd(g, xs, m, i):
        wave = pd_wave(g, m if by_rate else rate)
        return [g.obj("*~", wave, m) if by_level else g.obj(f"*~ {QUIET}", wave) for _ in xs]

    def settings(number, channels):
        return f"file={('sample', 'stereo')[channels - 1]}.wav loop=on autoplay=on rate={rate} level={decibels(QUIET)} channels={channels}"

    return Work(title, settings, moved, at, widths=(1, 2), forms=SIDE_BY_SIDE, sources=0, total=256, scsynth=scsynth, csound=csound, pd=pd)


PLAYERS = (
    player("rate 1", 1),
    player("rate 1.1", 1.1),
    player("rate moved", 1.1, (["rate"], 1.1, 0.1)),
    player("level moved", 1.1, (["level"], QUIET, QUIET / 2)),
)
