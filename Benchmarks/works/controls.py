"""Works of the kinds that control others."""
from forms import SIDE_BY_SIDE, Work, each


def gated(title, settings="", scsynth=None, csound=None, pd=None, **more):
    """A tone of some hundred hertz is the gate, so that it opens and shuts in each block or two."""
    return Work(title, settings, forms=SIDE_BY_SIDE, widths=(1, 64),
                scsynth=scsynth and each(lambda g, x, m, i: scsynth(g, x)), csound=csound and each(lambda g, x, m, i: csound(g, x)),
                pd=pd and each(lambda g, x, m, i: pd(g, x)), **more)  # fmt: skip


# EnvGen's shapes: 0.1 s up, decay to 0.7, and release.
ADSR = (0, 3, 2, -99, 1, 0.1, 5, 0, 0.7, 0.2, 5, -4, 0, 0.2, 5, -4)

ENVELOPES = (
    gated("from a tone", "attack=0.1s decay=0.2s release=0.2s",
          scsynth=lambda g, x: g.unit("EnvGen", x, 1, 0, 1, 0, *ADSR)),
    Work("held", "attack=10ms decay=50ms", forms=SIDE_BY_SIDE, sources=0, widths=(1, 64),
         lines=lambda name, i, c: [f"connect held -> {name}"] if i else [f"node held constant channels={c}", f"connect held -> {name}"],
         scsynth=each(lambda g, c, m, i: g.unit("EnvGen", g.steady(1), 1, 0, 1, 0, *ADSR)),
         csound=each(lambda g, c, m, i: g.a("madsr 0.01, 0.05, 0.7, 0.2"))),
)  # fmt: skip


def slewed(title, settings, scsynth=None, csound=None):
    return Work(title, settings, forms=SIDE_BY_SIDE, scsynth=scsynth, csound=csound)


SLEWS = (
    slewed("linear", "rise=1ms fall=2ms", each(lambda g, x, m, i: g.unit("Slew", x, 1000, 500))),
    slewed("exponential", "shape=exponential rise=1ms fall=2ms", each(lambda g, x, m, i: g.unit("LagUD", x, 0.0069, 0.0138)),
           each(lambda g, x, m, i: g.a(f"lagud {x}, 0.0069, 0.0138"))),
)  # fmt: skip

HOLDS = (
    Work("triggered by a tone", forms=SIDE_BY_SIDE, lines=lambda name, i, c: [f"connect tone0 -> {name}.trigger"],
         scsynth=each(lambda g, x, m, i: g.unit("Latch", x, x)),
         csound=each(lambda g, x, m, i: g.a(f"samphold {x}, {x}")),
         pd=each(lambda g, x, m, i: g.obj("samphold~", x, x))),
)  # fmt: skip

FOLLOWERS = (
    Work("peak", "attack=5ms release=100ms", forms=SIDE_BY_SIDE,
         scsynth=each(lambda g, x, m, i: g.unit("Amplitude", x, 0.005, 0.1)),
         csound=each(lambda g, x, m, i: g.a(f"follow2 {x}, 0.005, 0.1"))),
    Work("rms", "detector=rms attack=50ms release=50ms", forms=SIDE_BY_SIDE,
         csound=each(lambda g, x, m, i: g.a(f"= a({g.kept(f'rms {x}', 'k')})"))),
)  # fmt: skip

PITCHES = (
    Work("of a tone", forms=SIDE_BY_SIDE, widths=(1, 2), total=16,
         csound=each(lambda g, x, m, i: g.a(f"plltrack {x}, 0.1", 2)[0])),
    Work("of a tone, by ptrack", forms=SIDE_BY_SIDE, widths=(1, 2), total=16,
         csound=each(lambda g, x, m, i: g.a(f"= a({g.kept(f'ptrack {x}, 512', 'k', 2)})"))),
)  # fmt: skip

TUNERS = (
    Work("of a tone", widths=(1, 2), total=16,
         csound=each(lambda g, x, m, i: g.a(f"= {x} + 0 * a({g.kept(f'ptrack {x}, 512', 'k', 2)})"))),
)  # fmt: skip

COMPARATORS = (
    # Thresholds within the tone, which would leave a higher one's output at zero.
    Work("plain", "threshold=0.001", forms=SIDE_BY_SIDE,
         scsynth=each(lambda g, x, m, i: g.binary(">", x, 0.001)),
         pd=each(lambda g, x, m, i: g.obj("expr~ $v1 > 0.001", x))),
    Work("hysteresis", "threshold=0.001 hysteresis=0.001", forms=SIDE_BY_SIDE,
         scsynth=each(lambda g, x, m, i: g.unit("Schmidt", x, 0.0005, 0.0015))),
)  # fmt: skip

LOGICS = (
    Work("and", forms=SIDE_BY_SIDE, lines=lambda name, i, c: [f"connect tone0 -> {name}.with"],
         scsynth=each(lambda g, x, m, i: g.binary("min", g.binary(">", x, 0), g.binary(">", x, 0))),
         pd=each(lambda g, x, m, i: g.obj("expr~ $v1 > 0 && $v2 > 0", x, x))),
)  # fmt: skip

RANDOMS = (
    Work("at a rate", lambda n, c: f"rate=8Hz channels={c}", forms=SIDE_BY_SIDE, sources=0,
         scsynth=each(lambda g, c, m, i: g.unit("LFNoise0", 8)),
         csound=each(lambda g, c, m, i: g.a("randh 1, a(8)"))),
)  # fmt: skip

CLOCKS = (
    Work("free", lambda n, c: f"note=free rate={2 + n % 61 / 10}Hz", forms=SIDE_BY_SIDE, sources=0, widths=(1,), total=64,
         scsynth=each(lambda g, c, m, i: g.unit("LFPulse", 2 + i % 61 / 10, 0, 0.5)),
         csound=each(lambda g, c, m, i: g.a(f"lfo 1, {2 + i % 61 / 10}, 3"))),
    Work("of the transport", forms=SIDE_BY_SIDE, sources=0, widths=(1,), total=64,
         scsynth=each(lambda g, c, m, i: g.unit("LFPulse", 8, 0, 0.5))),
)  # fmt: skip

DIVIDERS = (
    Work("of a tone", "by=3", forms=SIDE_BY_SIDE, scsynth=each(lambda g, x, m, i: g.unit("PulseDivider", x, 3, 0))),
)  # fmt: skip

QUANTIZERS = (
    Work("minor", "scale=minor", forms=SIDE_BY_SIDE,
         pd=each(lambda g, x, m, i: g.obj("expr~ rint($v1 * 1200) / 1200", x)),
         scsynth=each(lambda g, x, m, i: g.binary("round", x, 1 / 1200))),
)  # fmt: skip

SEQUENCERS = (
    Work("own beat", 'steps="C4 E4 G4 . C5 ~ x? x:90"'.replace("x? ", "x?50 "), forms=SIDE_BY_SIDE, sources=0, widths=(1,), total=64),
)  # fmt: skip

FORMULAS = (
    Work("sin(a) * b", 'formula="sin(a) * b"', forms=SIDE_BY_SIDE, lines=lambda name, i, c: [f"connect tone0 -> {name}.b"],
         scsynth=each(lambda g, x, m, i: g.mul(g.unary("sin", x), x)),
         csound=each(lambda g, x, m, i: g.a(f"= sin({x}) * {x}")),
         pd=each(lambda g, x, m, i: g.obj("expr~ sin($v1) * $v2", x, x))),
)  # fmt: skip

METERS = (
    Work("peak and rms", forms=SIDE_BY_SIDE,
         scsynth=each(lambda g, x, m, i: g.unit("Peak", x, 0))),
)  # fmt: skip
