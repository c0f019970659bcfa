"""Our side: the patches of Patches/benchmarks, and those that are too long to keep.

    patches.py                        writes Patches/benchmarks anew
    patches.py FOLDER                 writes the others, and the sampler's sample, into FOLDER
"""
import math
import os
import struct
import sys

import peers
from workloads import *

KEPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Patches", "benchmarks")


def number(value):
    return f"{value:.6f}".rstrip("0").rstrip(".")


def patch(comment, *nodes):
    """Nodes are paragraphs: a line, and the lines that belong to it."""
    return f"sostenuto 1\n# {comment}\n\n" + "\n\n".join(nodes) + "\n"


def node(line, *more):
    return "\n".join(["node " + line, *more])


def oscillators(name, freqs, shape="shape=saw ", level="0dB"):
    """One a channel."""
    list = ",".join(number(freq) + "Hz" for freq in freqs)
    return node(f"{name} oscillator {shape}freq=[{list}] level={level} channels={len(freqs)}")


def output(*sources, channels=2):
    size = "" if channels == 2 else f" channels={channels}"
    return node("out output" + size, *(f"connect {source} -> out" for source in sources))


def saw_group(first, count, gain=1, name=""):
    """Saws as the channels of three nodes: a cable has 64 of them. The filter's 1 kHz is its default."""
    voices = range(first, first + count)
    settings = [
        f"set mix{name}[{i - first},{side}] {decibels(gain * sides(i % SAWS, SAWS)[side])}"
        for i in voices
        for side in range(2)
        if sides(i % SAWS, SAWS)[side] > 0
    ]
    return [
        oscillators(f"saw{name}", [SAW_FREQS[i % SAWS] for i in voices]),
        node(f"low{name} filter q={Q}", f"connect saw{name} -> low{name}"),
        node(f"mix{name} matrix inputs={count}", f"connect low{name} -> mix{name}", *settings),
    ]


def saws(groups=4, gain=1, comment="256 saws, each through a resonant low-pass and two gains: four groups of 64 channels."):
    size = WIDTH
    nodes = [part for g in range(groups) for part in saw_group(g * size, size, gain, str(g))]
    return patch("W1: " + comment, *nodes, output(*(f"mix{g}" for g in range(groups))))


def saw_nodes():
    nodes = []
    for i, freq in enumerate(SAW_FREQS):
        left, right = sides(i, SAWS)
        # `pan` has constant power; so the level is what it makes of both sides.
        pan = math.atan2(right, left) * 4 / math.pi - 1
        nodes += [
            node(f"saw{i} oscillator shape=saw freq={number(freq)}Hz level={decibels(math.hypot(left, right))}"),
            node(f"low{i} filter q={Q}", f"connect saw{i} -> low{i}"),
            node(f"pan{i} pan pan={number(pan)}", f"connect low{i} -> pan{i}"),
        ]
    return patch("W1 as 768 nodes.", *nodes, output(*(f"pan{i}" for i in range(SAWS))))


def voices(instrument, polyphony=VOICES, quality="4-point"):
    return patch(
        f"W2: {polyphony} voices of a looped sample; `make bench` makes the instrument.",
        node("keys keyboard"),
        node(
            f"voices sampler instrument={instrument} polyphony={polyphony} quality={quality}",
            "connect keys -> voices",
        ),
        output("voices"),
    )


def instrument(sound="sample.wav", loop=f"loop_start=0 loop_end={SAMPLE_FRAMES - 1}"):
    """A key for each voice. `pan` has constant power; so the volume is what it makes of both sides."""
    lines = [
        f"<global> sample={sound} amp_veltrack=0 ampeg_attack=0.005 ampeg_release=0.2",
        f"<group> loop_mode=loop_continuous {loop}",
    ]
    for i, rate in enumerate(VOICE_RATES):
        left, right = sides(i, VOICES)
        pan = 100 * (math.atan2(right, left) * 4 / math.pi - 1)
        # The middle of `pan` is 3 dB down.
        volume = 20 * math.log10(math.hypot(left, right))
        lines.append(
            f"<region> key={i} tune={1200 * math.log2(rate):.4f} pan={pan:.4f} volume={volume:.4f}"
        )
    return "\n".join(lines) + "\n"


def chords(count=VOICES, velocity=100):
    """A voice a key, and with more of them a few a millisecond, on all keys again and again."""
    return "".join(
        f"at {number(i // VOICES * 0.01)}s note voices on {i % VOICES} {velocity}\n" for i in range(count)
    )


def keys():
    """A polyphonic patch as one writes it."""
    return patch(
        "W1 as a polyphonic patch of sixteen notes.",
        node("v voices"),
        node("saw oscillator shape=saw level=0dB", "connect v -> saw by 1oct"),
        node(f"low filter q={Q}", "connect saw -> low"),
        node(f"down mixdown spread=100% level={decibels(1 / 16)}", "connect low -> down"),
        output("down"),
    )


def held_keys():
    return "".join(f"at 0s note v on {key} 100\n" for key in KEYS)


# Note-ons: what finds a note's region among few and among many. Each voice is over after a millisecond.
NOTES = 20_000
INSTRUMENTS = {"few": (range(54, 74), 1), "many-regions": (range(128), 39)}


def regions(keys, layers):
    """A region for each key and layer of velocities, all of one short sample."""
    lines = ["<global> sample=click.wav loop_mode=one_shot volume=-40"]
    for key in keys:
        for layer in range(layers):
            low, high = 1 + 127 * layer // layers, 127 * (layer + 1) // layers
            lines.append(f"<region> key={key} lovel={low} hivel={high}")
    return "\n".join(lines) + "\n"


def played(instrument, comment=f"{NOTES} note-ons a second.", polyphony=64, quality="4-point", more=""):
    return patch(
        "W2: " + comment,
        node("keys midi"),
        node(f"voices sampler instrument={instrument} polyphony={polyphony} quality={quality}{more}", "connect keys -> voices"),
        output("voices"),
    )


def loaded(bank):
    return patch(
        "SF2: a bank that loads.",
        node("keys keyboard"),
        node(f"voices sampler instrument={bank}", "connect keys -> voices"),
        output("voices"),
    )


def note_ons(seconds):
    """A MIDI file of nothing else, spread over the keys and velocities that all instruments have."""
    track = bytearray(b"\0\xff\x51\x03" + (1_000_000).to_bytes(3, "big") + b"\0\x90\x40\x40")
    tick = 0
    for i in range(1, int(NOTES * seconds)):
        now = i * 1000 // NOTES
        track += bytes((now - tick, 54 + i % 20, 1 + i * 7 % 127))
        tick = now
    track += b"\0\xff\x2f\0"
    header = b"MThd" + struct.pack(">IHHH", 6, 0, 1, 1000)
    return header + b"MTrk" + struct.pack(">I", len(track)) + bytes(track)


def matrix():
    settings = [
        f"set main[{i},{o}] {decibels(MATRIX_GAINS[o][i])}" for i in range(WIDTH) for o in range(WIDTH)
    ]
    return patch(
        "W3: a 64x64 matrix in which every crosspoint is open.",
        oscillators("saws", MATRIX_FREQS),
        node(f"main matrix inputs={WIDTH} outputs={WIDTH}", "connect saws -> main", *settings),
        # What is heard of it; `out` has it all.
        node("ear mix", "connect main -> ear map=[0,1]"),
        output("main", channels=WIDTH),
    )


def matrix_without():
    """W3 but for the matrix: to be subtracted."""
    return patch(
        "W3 without its matrix.",
        oscillators("saws", MATRIX_FREQS),
        node("ear mix", "connect saws -> ear map=[0,1]"),
        output("saws", channels=WIDTH),
    )


def matrix_moves(seconds):
    """Each gain travels to what another one was, and takes the whole time."""
    sets = [
        f"set main[{i},{o}] {decibels(MATRIX_GAINS[WIDTH - 1 - o][i])} over {number(seconds)}s"
        for i in range(WIDTH)
        for o in range(WIDTH)
    ]
    return "at 0s " + " ; ".join(sets) + "\n"


def chain(kinds, comment):
    """The kinds in turns."""
    nodes = [oscillators("n0", CHAIN_FREQS, shape="", level=decibels(CHAIN_LEVEL))]
    nodes += [node(f"n{i} {kinds[i % len(kinds)]}", f"connect n{i - 1} -> n{i}") for i in range(1, CHAIN + 1)]
    return patch(comment, *nodes, output(f"n{CHAIN}"))


def gains():
    return chain([f"gain gain={decibels(gain)}" for gain in CHAIN_GAINS], "W4a: 1000 stereo gains around 0 dB in series.")


def low_passes():
    return chain(["filter freq=20kHz q=0.5"], "W4b: 1000 stereo low-passes in series.")


def branches():
    """W7: W4's low-passes, half of them for each of its sines."""
    nodes = []
    for branch, freq in enumerate(CHAIN_FREQS):
        name = f"b{branch}_"
        nodes.append(oscillators(f"{name}0", [freq, freq], shape="", level=decibels(CHAIN_LEVEL)))
        nodes += [node(f"{name}{i} filter freq=20kHz q=0.5", f"connect {name}{i - 1} -> {name}{i}") for i in range(1, CHAIN // 2 + 1)]
    ends = [f"{name} -> out map=[{sides}]" for name, sides in ((f"b0_{CHAIN // 2}", "0,-1"), (f"b1_{CHAIN // 2}", "-1,0"))]
    return patch("W7: two branches of 500 stereo low-passes.", *nodes, node("out output", *(f"connect {end}" for end in ends)))


def many_nodes():
    """W3 as nodes, three to a crosspoint, and the rest behind it: 12,500 in all with the output."""
    nodes = [node(f"saw{i} oscillator shape=saw freq={number(f)}Hz level=0dB") for i, f in enumerate(MATRIX_FREQS)]
    for o in range(WIDTH):
        for i in range(WIDTH):
            name = f"_{i}_{o}"
            nodes += [
                node(f"a{name} gain", f"connect saw{i} -> a{name}"),
                node(f"b{name} gain gain={decibels(MATRIX_GAINS[o][i])}", f"connect a{name} -> b{name}"),
                node(f"c{name} gain", f"connect b{name} -> c{name}"),
            ]
        nodes.append(node(f"sum{o} mix", *(f"connect c_{i}_{o} -> sum{o}" for i in range(WIDTH))))
    nodes.append(node("tail0 mix", *(f"connect sum{o} -> tail0" for o in range(WIDTH))))
    nodes += [node(f"tail{i} gain", f"connect tail{i - 1} -> tail{i}") for i in range(1, 83)]
    nodes.append(node("out output", "connect sum0 -> out map=[0,-1]", "connect sum1 -> out map=[-1,0]", "connect tail82 -> out gain=-60dB"))
    return patch("W6: 12,500 nodes.", *nodes)


def replaced(groups, gain=1e-4):
    """W5: a tone through an effect that is replaced again and again; on other outputs, the load."""
    load = [part for g in range(groups) for part in saw_group(g * WIDTH, WIDTH, gain, str(g))]
    return patch(
        "W5: a tone through an effect that is replaced again and again.",
        node("tone oscillator freq=220Hz level=-6dB"),
        node("effect filter q=2", "connect tone -> effect"),
        node("out output channels=1", "connect effect -> out"),
        *load,
        *([node("rest output", *(f"connect mix{g} -> rest" for g in range(groups)))] if groups else []),
    )


def put(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def write_kept():
    os.makedirs(KEPT, exist_ok=True)
    put(KEPT, "W1.patch", saws())
    put(KEPT, "W3.patch", matrix())
    put(KEPT, "W4a.patch", gains())
    put(KEPT, "W4b.patch", low_passes())
    put(KEPT, "W5.patch", replaced(0))


def write_others(folder, travel=60):
    os.makedirs(folder, exist_ok=True)
    samples = sample()
    write_wav(os.path.join(folder, "sample.wav"), samples)
    put(folder, "voices.sfz", instrument())
    put(folder, "W2.patch", voices("voices.sfz"))
    put(folder, "W2.script", chords())
    peers.write_banks(folder, samples)
    for bank in peers.BANKS:
        put(folder, f"W2-{bank}.patch", voices(bank))
    put(folder, "W2-filtered.script", chords(velocity=90))
    put(folder, "W2-many.patch", voices("still.sf2", 1000))
    put(folder, "W2-many.script", chords(1000, 90))
    write_wav(os.path.join(folder, "click.wav"), [math.sin(math.pi * i / 48) for i in range(48)])
    for name, (struck, layers) in INSTRUMENTS.items():
        put(folder, f"{name}.sfz", regions(struck, layers))
        put(folder, f"W2-{name}.patch", played(f"{name}.sfz"))
    with open(os.path.join(folder, "notes.mid"), "wb") as file:
        file.write(note_ons(travel))
    put(folder, "W2-sinc.patch", voices("voices.sfz", quality="sinc"))
    write_wav(os.path.join(folder, "stereo.wav"), samples, samples[1000:] + samples[:1000])
    put(folder, "stereo.sfz", instrument("stereo.wav"))
    put(folder, "W2-stereo.patch", voices("stereo.sfz"))
    # A loop of a tenth of a second, nearly half of it faded.
    put(folder, "fades.sfz", instrument(loop="loop_start=4800 loop_end=9599 loop_crossfade=0.045"))
    put(folder, "W2-fades.patch", voices("fades.sfz"))
    put(folder, "W2-release.patch", played("released.sf2", "notes that are released, most voices in their release.", 256))
    peers.write_bank(folder, "released.sf2", samples, peers.RELEASED)
    peers.write_bank(folder, "stereo.sf2", samples, peers.LEFT, peers.RIGHT)
    for quality in ("sinc", "4-point"):
        put(folder, f"GM-{quality}.patch", played(BANK, "a General MIDI chord of layers.", 256, quality, " changes=on"))
    put(folder, "W1-nodes.patch", saw_nodes())
    put(folder, "W1-notes.patch", keys())
    put(folder, "W1-notes.script", held_keys())
    put(folder, "W3-without.patch", matrix_without())
    put(folder, "moves.script", matrix_moves(travel))
    put(folder, "W6.patch", many_nodes())
    put(folder, "W7.patch", branches())
    put(folder, "SF2.patch", loaded(BANK))
    put(folder, "SF2.script", "at 0s note voices on 60 90\n")
    return samples


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_others(sys.argv[1])
    else:
        write_kept()
