"""Works of the kinds that make sound of their own: an input is the channel's number."""
from forms import RATE, SIDE_BY_SIDE, Work, each, frequencies, frequency
from workloads import decibels

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
