"""Works of the kinds that hold sound back: delays, rooms, sweeps, pitch shifters, loops."""
import math

from forms import RATE, SIDE_BY_SIDE, Work, each


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


# A waveguide is a delay with a low-pass in its loop.
ECHOES = (
    Work("still", lambda n, c: f"time={frames_of(n):.7f}s {ECHO} longest=0.1s", total=64,
         csound=cs_echo(lambda g, x, m, i: f"wguide1 {x}, {1 / frames_of(i):.6f}, 6000, 0.35")),
    Work("time moved", lambda n, c: f"time=20ms {ECHO} lag=0s longest=0.1s", (["time"], 0, 0.001), at=(50, 1), total=256, forms=SIDE_BY_SIDE,
         csound=cs_echo(lambda g, x, m, i: f"wguide1 {x}, {m}, 6000, 0.35")),
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


# Csound's convolution in parts of 1024 frames is as many late; ours is not.
CONVOLUTIONS = (
    Work("two seconds", lambda n, c: f"file=sample.wav length=3s channels={c}", forms=SIDE_BY_SIDE, widths=(1, 2), total=16,
         csound=each(lambda g, x, m, i: g.a(f"ftconv {x}, gi1, 1024"))),
)  # fmt: skip
