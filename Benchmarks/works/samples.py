"""Works of the kinds that play samples: the peers interpolate by four points."""
from forms import RATE, SIDE_BY_SIDE, Work
from workloads import SAMPLE_FRAMES, decibels
from works.sources import QUIET

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
