"""Works of the filters. Their corners are far above the tones, which pass a thousand of them."""
import math

from forms import RATE, SIDE_BY_SIDE, Work, alone, each

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
