"""Works of `kinds.py` for kinds that control others, as `works.py` has the rest."""
from forms import PARALLEL, Work, each

SIDE_BY_SIDE = (PARALLEL,)


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
