"""Works of the kinds that bend, break and shift a wave. Of the peers none antialiases."""
from forms import SIDE_BY_SIDE, Work, each, frequency
from works.sources import slow_of

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


EXCITERS = (
    Work("still", "freq=100Hz", total=64, forms=SIDE_BY_SIDE,
         csound=each(lambda g, x, m, i: g.a(f"exciter {x}, 100, 20000, 10, 10"))),
)  # fmt: skip
