"""LV2 plug-ins that do the work of a row of `make bench-kinds`: the nearest of swh, Calf, x42, Zam, LSP and Rubber Band.

Where a work has several, the first of as many channels as divide the row's counts: the cheapest, as measured. A plug-in has
its parameters once a block, which is its cheapest form; `moved`: a control, the middle and how far it goes.
"""
from forms import PARALLEL, RATE, SERIES, alone
from works.filters import CORNER

SWH, CALF, X42 = "http://plugin.org.uk/swh-plugins/", "http://calf.sourceforge.net/plugins/", "http://gareus.org/oss/lv2/"
LSP, RUBBER_BAND = "http://lsp-plug.in/plugins/lv2/", "http://breakfastquay.com/rdf/lv2-rubberband#"
# Loud enough for a threshold that goes down to -30 dB only.
LOUD = 0.2


class plugin:
    """A plug-in with its settings. `level`: of the tone, where it isn't that of the other programs."""

    def __init__(self, uri, channels=1, moved=None, level=0.002, **settings):
        self.uri, self.channels, self.moved, self.level, self.settings = uri, channels, moved, level, settings
        self.forms = (SERIES, PARALLEL)


def both(uri, moved, **settings):
    """The same at rest and moved."""
    return (plugin(uri, **settings),), (plugin(uri, moved=moved, **settings),)


PLUGINS = {
    "ringmod: still": (plugin(SWH + "ringmod_1i1o1l", depthp=0.3, freq=440, sin=1),),
    "ringmod: freq moved": (plugin(SWH + "ringmod_1i1o1l", moved=("freq", 440, 100), depthp=0.3, sin=1),),
    "ringmod: another node as carrier": (alone(plugin(SWH + "ringmod_2i1o", depth=0.3)),),
    "filter: low-pass": (plugin(SWH + "lowpass_iir", cutoff=CORNER / RATE, stages=1),),
    "filter: low-pass, freq moved": (plugin(SWH + "lowpass_iir", moved=("cutoff", CORNER / RATE, 0.02), stages=1),),
    "svf: all outputs": (alone(plugin(SWH + "svf", filt_type=1, filt_freq=5000)),),
    "svf: freq moved": (alone(plugin(SWH + "svf", moved=("filt_freq", 5000, 500), filt_type=1)),),
    "equalizer: four bands": (plugin("urn:zamaudio:ZamEQ2", boost1=1, boost2=-1, boostl=1, boosth=-1),),
    "equalizer: band1.freq moved": (plugin("urn:zamaudio:ZamEQ2", moved=("f1", 2100, 100), boost1=1, boost2=-1, boostl=1, boosth=-1),),
    "equalizer: band1.gain moved": (plugin("urn:zamaudio:ZamEQ2", moved=("boost1", 1, 0.05), boost2=-1, boostl=1, boosth=-1),),
    "equalizer: band1.q moved": (plugin("urn:zamaudio:ZamEQ2", moved=("bw1", 1, 0.1), boost1=1, boost2=-1, boostl=1, boosth=-1),),
    "distortion: fold at 1x": (plugin(SWH + "foldover", drive_p=0.5),),
    "compressor: still": (plugin(SWH + "sc1", level=LOUD, threshold=-25, ratio=4, attack=10, release=100),),
    "compressor: each channel for itself": (plugin(SWH + "sc1", level=LOUD, threshold=-25, ratio=4, attack=10, release=100),),
    "compressor: threshold moved": (plugin(SWH + "sc1", level=LOUD, moved=("threshold", -25, 3), ratio=4, attack=10, release=100),),
    "compressor: another node beside": (plugin("urn:zamaudio:ZamComp", thr=-70, rat=4, sidech=1),),
    "gate: open": (plugin(SWH + "gate", threshold=-70),),
    "gate: each channel for itself": (plugin(SWH + "gate", threshold=-70),),
    "gate: shut": (plugin(SWH + "gate", threshold=-20, range=-1),),
    "expander: still": (plugin(LSP + "expander_mono", al=0.001, er=2),),
    "expander: each channel for itself": (plugin(LSP + "expander_mono", al=0.001, er=2),),
    "limiter: quiet": (plugin(X42 + "dpl#mono"),),
    "limiter: at work, of frames": (
        plugin(SWH + "fastLookaheadLimiter", 2, level=LOUD, limit=-20), plugin(X42 + "dpl#mono", level=0.7, threshold=-9),
    ),
    "limiter: at work": (plugin(X42 + "dpl#mono", level=0.7, threshold=-9, truepeak=1),),
    "transient: still": (plugin(SWH + "transient", attack=0.3, sustain=-0.3),),
    "reverb: one channel": (alone(plugin(SWH + "gverb", revtime=2)),),
    "reverb: stereo": (plugin(CALF + "Reverb", 2, decay_time=2),),
    "reverb: decay moved": (plugin(CALF + "Reverb", 2, moved=("decay_time", 2, 0.5)),),
    "chorus: two voices": (plugin(SWH + "multivoiceChorus", voices=2),),
    "chorus: depth moved": (plugin(SWH + "multivoiceChorus", moved=("detune", 1, 0.5), voices=2),),
    "flanger: with feedback": (plugin(CALF + "Flanger", 2, feedback=0.35), plugin(SWH + "flanger", feedback=0.35, law_freq=0.5)),
    "flanger: feedback moved": (
        plugin(CALF + "Flanger", 2, moved=("feedback", 0.35, 0.05)),
        plugin(SWH + "flanger", moved=("feedback", 0.35, 0.05), law_freq=0.5),
    ),
    "phaser: six stages": (plugin(SWH + "lfoPhaser", lfo_rate=0.5, fb=0.3),),
    "phaser: freq moved": (plugin(SWH + "lfoPhaser", moved=("lfo_depth", 0.25, 0.1), lfo_rate=0.5, fb=0.3),),
    "delay: still": (plugin(SWH + "comb_n", max_delay=0.05, delay_time=0.02, decay_time=0.13),),
    "delay: half a frame": (plugin(SWH + "comb_c", max_delay=0.05, delay_time=0.02001, decay_time=0.13),),
    "delay: shift moved": (plugin(SWH + "comb_c", moved=("delay_time", 0.02, 0.001), max_delay=0.05, decay_time=0.13),),
    "echo: still": (plugin("urn:zamaudio:ZamDelay", time=20, feedb=0.35),),
    "echo: time moved": (plugin("urn:zamaudio:ZamDelay", moved=("time", 20, 1), feedb=0.35),),
    "freqshift: still": (plugin(SWH + "bodeShifter", shift=5),),
    "freqshift: shift moved": (plugin(SWH + "bodeShifter", moved=("shift", 5, 1)),),
    "pitchshift: a fifth": (plugin(RUBBER_BAND + "mono", semitones=7),),
    "crossover: two bands": (plugin(SWH + "bwxover_iir", cutoff=CORNER / RATE),),
    "crossover: four bands": (plugin(CALF + "XOver4Band", 2, mode=1),),
    "bitcrusher: every fourth frame": (plugin(SWH + "decimator", bits=16, fs=0.25),),
    "bitcrusher: antialiased": (plugin(CALF + "Crusher", 2, bits=16, samples=4),),
    "waveshaper: nine points": (plugin(SWH + "shaper", shapep=2),),
    "exciter: still": (plugin(CALF + "Exciter", 2, freq=2000),),
    "crossfade: linear": (alone(plugin(SWH + "xfade", 2, xfade=-0.4)),),
    "meter: peak and rms": (plugin(X42 + "meters#K20mono"),),
    "spectrum: passing": (plugin(X42 + "meters#spectr30mono"),),
    "loudness: passing": (plugin(X42 + "meters#EBUr128", 2),),
    "scope: passing": (plugin(X42 + "sisco#Mono"),),
    "tuner: of a tone": (plugin(X42 + "tuna#one"),),
}  # fmt: skip
PLUGINS["gain: still"], PLUGINS["gain: gain moved"] = both(SWH + "amp", ("gain", 0, 0.001), gain=0.001)
