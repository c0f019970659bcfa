"""Works of the kinds that add sounds up and weigh them."""
import math

from forms import SIDE_BY_SIDE, Work, each
from workloads import decibels


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
