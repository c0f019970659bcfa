"""Works of the kinds that change loudness: little of it, so that something is left at the end of a series."""
from forms import SIDE_BY_SIDE, Work, each

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


def linked_and_not(title, settings, ratio):
    """Channels that have one gain, and each its own."""
    side = each(lambda g, x, m, i: sc_compander(g, x, x, ratio, 1, 0.001))
    return (
        Work(title, settings, total=256, scsynth=side),
        Work("each channel for itself", settings + " link=off", widths=(2, 64), total=256, scsynth=side),
    )


GATES = (
    *linked_and_not("open", "threshold=-60dB hold=50ms", 10),
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

EXPANDERS = linked_and_not("still", "threshold=-60dB ratio=2 knee=0dB", 2)

TRANSIENTS = (Work("still", "attack=6dB sustain=-3dB", forms=SIDE_BY_SIDE, total=256),)
