#!/usr/bin/env python3
"""W5: an effect that is replaced again and again while the engine is at work, as another client hears it.

    edits.py SOSTENUTO LISTEN [--rate N]… [--seconds N] [--load PERCENT]

A tone goes through an effect, which becomes a resonant filter, a delay and an equalizer in turn; W1's
voices on other outputs are the load. It all runs on a JACK server of its own with the dummy back end and
64 frames a period. Five seconds of edits follow on five seconds without, in turn: the control is the same
program under the same load, at rest. Each rate is played twice: live, where an edit takes effect in the block after its
time, and at exact frames, which mostly lie within blocks. At the same time a client that does nothing listens to another such
server: how often that is late is the machine's doing.

  step    the largest difference of two successive samples, over the largest that the tone has at rest in
          any of the effects. A crossfade between two of them adds its own slope: a few per cent.
  clicks  windows of 10 ms whose largest second difference is above three times that of the tone at rest, while
          there are edits, and in as many seconds without
  silent  seconds of it, in pieces of at least 32 frames
  xruns   of the server while there are edits, in as many seconds without, and of the idle client's server in
          the former
  grown   by how much the program's memory grew
  late    callbacks of the listening client that come after two periods, likewise
"""
import argparse
import array
import itertools
import json
import os
import signal
import subprocess
import sys
import time

import patches
from bench import WORK
from measure import read_wav, run
from workloads import *

EFFECTS = ["filter freq=1kHz q=2", "delay time=7ms feedback=20% mix=30%", "equalizer band1.gain=3dB band2.gain=-3dB"]
# Seconds until the recording begins.
LEAD = 4
# Seconds of edits, and of their absence, in turn.
TURN = 5


def script(rate, turns):
    """The edits of every other turn. They begin and end half a second inside of it: the recording's clock and
    the player's do not start together."""
    lines = []
    for turn in range(turns):
        for _ in range(round(rate * (TURN - 1))):
            at = LEAD + (2 * turn + 1) * TURN + 0.5 + len(lines) / rate - turn * (TURN - 1)
            lines.append(f"at {at:.6f}s replace effect {EFFECTS[(len(lines) + 1) % len(EFFECTS)]}\n")
    return "".join(lines)


def in_turns(counts):
    """What was counted by the second: in the seconds full of edits, and in as many without."""
    inner = [second % TURN not in (0, TURN - 1) for second in range(len(counts))]
    return [
        sum(count for second, count in enumerate(counts) if inner[second] and second // TURN % 2 == with_edits)
        for with_edits in (1, 0)
    ]


def differences(samples):
    return [b - a for a, b in zip(samples, samples[1:])]


def largest(values):
    return max(map(abs, values), default=0)


def at_rest(program, folder):
    """The largest first and second difference of the tone in any of the effects."""
    patches.put(folder, "W5-rest.patch", patches.replaced(0))
    steps = bends = 0
    for i, effect in enumerate(EFFECTS):
        patches.put(folder, "W5-rest.script", f"at 0s replace effect {effect}\n")
        output = f"{folder}/W5-rest.wav"
        run([program, "render", f"{folder}/W5-rest.patch", "--script", f"{folder}/W5-rest.script",
             "--seconds", "1", "--output", output], folder)  # fmt: skip
        slopes = differences(read_wav(output)[0][24000:])
        steps, bends = max(steps, largest(slopes)), max(bends, largest(differences(slopes)))
    return steps, bends


def groups_for(options, folder):
    """How many groups of 64 voices take the load of each period, where all else is as it will be."""

    def load(groups):
        patches.put(folder, "W5-load.patch", patches.replaced(groups))
        command = [options.program, "play", f"{folder}/W5-load.patch"]
        tape = f"{folder}/W5.f32"
        return live(command, options.listener, 2, tape, lambda _: 0, options.asynchronous)[0]["load"]

    # Many at once have another place in the caches than few.
    groups = 64
    for _ in range(2):
        groups = max(1, round(groups * options.load / 100 / load(groups)))
    return groups


class Server:
    """A JACK server of our own."""

    def __init__(self, name, is_async):
        self.name = name
        # In step with its clients it is late on a busy machine, where it would be deaf otherwise.
        mode = [] if is_async else ["-S"]
        self.process = subprocess.Popen(
            ["jackd", "-R", "-P", "60", *mode, "-n", name, "-d", "dummy", "-r", str(RATE), "-p", str(BLOCK)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self):
        end(self.process)


def end(process):
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def resident(process):
    """Megabytes that it has in memory."""
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def listen(listener, server, seconds, *port):
    process = subprocess.Popen(
        [listener, server.name, str(seconds), *port],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return process


def heard(samples, rest):
    slopes = differences(samples)
    bends = differences(slopes)
    clicks = [0] * (len(bends) // RATE + 1)
    for i in range(0, len(bends), 480):
        clicks[i // RATE] += largest(bends[i : i + 480]) > 3 * rest[1]
    silent = length = 0
    for sample in samples:
        if abs(sample) < 1e-7:
            length += 1
        else:
            silent += length if length >= 32 else 0
            length = 0
    silent += length if length >= 32 else 0
    return dict(step=largest(slopes) / rest[0], clicks=in_turns(clicks), silent=silent / RATE)


def measure(options, folder, rate, is_exact, groups, rest):
    patches.put(folder, "W5.patch", patches.replaced(groups))
    turns = max(1, round(options.seconds / TURN))
    patches.put(folder, "W5.script", script(rate, turns))
    command = [options.program, "play", f"{folder}/W5.patch", "--script", f"{folder}/W5.script"]
    if not is_exact:
        command.append("--loose")
    tape = f"{folder}/W5.f32"
    played, ours, idle, grown = live(command, options.listener, 2 * turns * TURN, tape, resident, options.asynchronous)
    if options.verbose:
        print("xruns by the second:", *ours["xruns"])
    samples = array.array("f")
    with open(tape, "rb") as file:
        samples.frombytes(file.read())
    return played, ours, idle, dict(heard(samples, rest), grown=grown)


def live(command, listener, seconds, tape, figure, is_async):
    """Plays for so long on a JACK server of its own: what the player says at its end, what the client counted that
    recorded it onto the tape, what an idle client of another server did, and by how much a figure of the player's process
    grew meanwhile."""
    # Now and then jackd in step with its clients loses a wake-up, and waits for ever: also for the idle client.
    for _ in range(4):
        found = attempt(command, listener, seconds, tape, figure, is_async)
        if found:
            return found
    sys.exit("a listener did not come to its end, four times")


def attempt(command, listener, seconds, tape, figure, is_async):
    """The same once; None if a server has stopped to call its clients."""
    names = [f"sostenuto-bench-{os.getpid()}-{part}" for part in ("ours", "idle")]
    servers, processes = [], []
    try:
        for name in names:
            servers.append(Server(name, is_async))
            # One after the other: they share a registry.
            wait_for(servers[-1])
        player = subprocess.Popen(
            [*command, "--headless", "--json", "--driver", "jack", "--jack-server", names[0],
             "--seconds", str(LEAD + seconds + 2)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        processes.append(player)
        start = time.monotonic()
        ears = [
            listen(listener, servers[0], seconds, "sostenuto:out_1", tape),
            listen(listener, servers[1], seconds),
        ]
        processes += ears
        for ear in ears:
            if ear.stdout.readline() != "ready\n":
                sys.exit("the listener did not start")
        time.sleep(max(0, start + LEAD - time.monotonic()))
        for ear in ears:
            ear.stdin.write("\n")
            ear.stdin.flush()
        before = figure(player)
        texts = [ear.stdout.read() for ear in ears]
        grown = figure(player) - before
        if not all(texts):
            return None
        ours, idle = map(json.loads, texts)
        return json.loads(player.stdout.read()), ours, idle, grown
    finally:
        for process in processes:
            end(process)
        for server in servers:
            server.stop()


def wait_for(server):
    for _ in range(100):
        done = subprocess.run(["jack_lsp", "-s", server.name], capture_output=True)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    sys.exit("edits.py: jackd does not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("listener")
    parser.add_argument("--rate", type=float, action="append", help="edits a second")
    parser.add_argument("--seconds", type=float, default=20, help="of edits, and of their absence")
    parser.add_argument("--load", type=float, default=40, help="per cent of a processor")
    parser.add_argument("--async", dest="asynchronous", action="store_true", help="jackd does not wait for clients")
    parser.add_argument("--verbose", action="store_true", help="xruns by the second, too")
    options = parser.parse_args()
    options.program, options.listener = map(os.path.realpath, (options.program, options.listener))
    folder = os.path.realpath(WORK)
    os.makedirs(folder, exist_ok=True)
    # However it ends, its servers and players end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("edits.py: ended from outside"))

    rest = at_rest(options.program, folder)
    groups = groups_for(options, folder)
    print(f"W5: {options.seconds:g} s on jackd -d dummy, {RATE} Hz, {BLOCK} frames; load: {groups * WIDTH} voices")
    layout = "{:>9} {:>6} {:>6} {:>9} {:>9} {:>7} {:>6} {:>6} {:>6} {:>14} {:>7} {:>6} {:>20} {:>20}"
    print(layout.format("edits/s", "times", "done", "longest", "median", "lag", "load", "peak", "step", "clicks/without",
                        "silent", "grown", "xruns/without/idle", "late/without/idle"))  # fmt: skip
    for rate, is_exact in itertools.product(options.rate or [100, 1000], (False, True)):
        played, ours, idle, sound = measure(options, folder, rate, is_exact, groups, rest)
        counts = [
            "{}/{}/{}".format(*in_turns(ours[what]), in_turns(idle[what])[0]) for what in ("xruns", "late")
        ]
        print(layout.format(
            f"{rate:g}", "exact" if is_exact else "live", played["edits"], f"{played['longestEditSeconds'] * 1e3:.2f} ms",
            f"{played['medianLineSeconds'] * 1e3:.3f} ms", f"{played['lagSeconds'] * 1e3:.0f} ms",
            f"{played['load'] * 100:.0f} %", f"{played['peakLoad'] * 100:.0f} %", f"{sound['step']:.3f}",
            "{}/{}".format(*sound["clicks"]), f"{sound['silent']:.2f} s", f"{sound['grown']:.0f} MB", *counts), flush=True)  # fmt: skip
    print(f"{os.cpu_count()} processors, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    main()
