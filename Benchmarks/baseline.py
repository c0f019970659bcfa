#!/usr/bin/env python3
"""Renders and screens of a program, kept to be compared with those of a later one.

    baseline.py record SOSTENUTO FOLDER     keeps the program, random scripts, its renders' hashes and its screens
    baseline.py compare SOSTENUTO FOLDER    fails, naming them, where the other program differs by a bit or a cell

Each patch is rendered with its own script, and with random edits and notes, at periods that are and are not
multiples of 64 frames, and with several threads: all of these must give the same bytes. Screens are taken in tmux, key
by key, at several sizes, with the figures of the status line and the meters left out.
"""
import glob
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PERIODS = [(1024, 1), (64, 1), (469, 1), (17, 1), (256, 2), (333, 4)]
SCRIPTS = 4
SECONDS = 3
SIZES = [(80, 24), (110, 30), (50, 12)]
EFFECTS = ["gain", "filter", "delay", "distortion", "equalizer", "pan"]
KEYS = ["F1", "F2", "F3", "F4", "F5", "F1", "Escape", "Tab", "Tab", "BTab", "Enter", "Down", "Up", "Escape", "F8", "F10",
        "F7", "F10", "F11", "F10", "F4", "Right", "Down", "Right", "Up", "Left", "PPage", "NPage", "Home", "End", "F2", "c",
        "Escape", "d", "Escape", "a", "g", "a", "i", "Escape", "Escape", "r", "Escape", "i", "Escape", "Escape", ":", "s", "e",
        "t", "Space", "Tab", "Escape", "Escape", "/", "o", "Enter", "n", "m", "Escape", "F9", "F10", "R", "Escape", "F6", "F2",
        "F6", "F3", "Down", "NPage", "Escape"]


def patches():
    return sorted(glob.glob(f"{ROOT}/Patches/**/*.patch", recursive=True))


def name(path):
    return os.path.relpath(path, f"{ROOT}/Patches")[: -len(".patch")].replace("/", "-")


# --- Random scripts


def value(parameter, chance):
    """A value of a parameter in the words of the language; none for files and texts."""
    low, high, unit = float(parameter.get("low", 0)), float(parameter.get("high", 1)), parameter["unit"]
    if parameter["form"] == "toggle":
        return chance.choice(["on", "off"])
    if parameter["form"] == "choice":
        return chance.choice(parameter["choices"])
    if parameter["form"] == "integer":
        return str(chance.randint(int(low), int(min(high, low + 8))))
    if parameter["form"] != "continuous":
        return None
    if unit == "dB":
        return f"{chance.uniform(max(low, -40), min(high, 6)):.2f}dB"
    if low > 0:
        return f"{low * (high / low) ** chance.random():.6g}{unit}"
    return f"{chance.uniform(low, high):.6g}{unit}"


def script(path, kinds, seed):
    """Lines with their times: edits of what the patch has, notes, undo and redo. Some of them are refused."""
    chance = random.Random(f"{name(path)} {seed}")
    text = open(path).read()
    nodes = dict(re.findall(r"^node (\S+) (\S+)", text, re.M))
    cables = re.findall(r"^connect (\S+) -> (\S+)", text, re.M)
    effects = [n for n, k in nodes.items() if k in EFFECTS + ["mix"]]
    players = [n for n, k in nodes.items() if k in ("keyboard", "midi", "sampler")]
    lines = [f"at 0s note {node} on {key} 100" for node in players for key in (48, 55, 64)]
    made = 0
    for at in sorted(chance.uniform(0, SECONDS * 0.8) for _ in range(40)):
        node = chance.choice(list(nodes))
        kind = kinds.get(nodes[node], {"parameters": []})
        form = chance.randrange(10)
        if form < 3 and kind["parameters"]:
            parameter = chance.choice(kind["parameters"])
            index = "".join(f"[{chance.randrange(3)}]" for _ in parameter["dimensions"][:1])
            if len(parameter["dimensions"]) == 2:
                index = f"[{chance.randrange(3)},{chance.randrange(3)}]"
            to = value(parameter, chance)
            target = f"{node}.{parameter['name']}" if parameter["name"] else node
            over = chance.choice(["", "", " over 300ms"])
            line = f"set {target}{index} {to}{over}" if to else "undo"
        elif form == 3 and cables:
            made += 1
            source, target = chance.choice(cables)
            line = f"insert fx{made} {chance.choice(EFFECTS)} into {source} -> {target}"
        elif form == 4 and effects:
            line = f"remove {chance.choice(effects)} {chance.choice(['bridge', 'tail', ''])}".rstrip()
        elif form == 5 and effects:
            line = f"replace {chance.choice(effects)} {chance.choice(EFFECTS)}"
        elif form == 6 and cables:
            line = "{} {} -> {}".format(chance.choice(["disconnect", "connect"]), *chance.choice(cables))
        elif form == 7:
            line = chance.choice(["undo", "undo", "redo"])
        else:
            state, key = chance.choice(["on", "on", "off"]), chance.randrange(36, 84)
            line = f"note {chance.choice(players or [node])} {state} {key}" + (f" {chance.randint(1, 127)}" if state == "on" else "")
        lines.append(f"at {at:.4f}s {line}")
    return lines


def accepted(program, path, lines):
    """The lines without those that the program refuses."""
    with tempfile.NamedTemporaryFile("w", suffix=".script") as file:
        for _ in range(len(lines)):
            file.seek(0), file.truncate(), file.write("\n".join(lines) + "\n"), file.flush()
            run = subprocess.run([program, "render", path, "--script", file.name, "--seconds", "3", "-o", "/dev/null"],
                                 capture_output=True, text=True)
            refused = {int(n) for n in re.findall(re.escape(file.name) + r":(\d+):\d+: error", run.stderr)}
            if not refused:
                return lines
            lines = [line for number, line in enumerate(lines, 1) if number not in refused]
    return lines


# --- Renders


def render(program, path, script, period, threads, folder):
    output = f"{folder}/out.wav"
    if os.path.exists(output):
        os.remove(output)
    command = [program, "render", path, "--seconds", str(SECONDS), "--period", str(period), "--threads", str(threads)]
    command += ["--script", script] if script else []
    done = subprocess.run([*command, "-o", output], capture_output=True, text=True)
    if done.returncode != 0:
        return "refused: " + done.stderr.replace(script or "\0", "SCRIPT").replace(ROOT, "")[-400:]
    return hashlib.sha256(open(output, "rb").read()).hexdigest()


def renders(program, folder):
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for path in patches():
            own = path[: -len(".patch")] + ".script"
            scripts = [None] + [own] * os.path.exists(own)
            scripts += sorted(glob.glob(f"{folder}/scripts/{name(path)}.*.script"))
            for script in scripts:
                for period, threads in PERIODS:
                    key = f"{name(path)} {os.path.basename(script or '-')} period {period} threads {threads}"
                    found[key] = render(program, path, script, period, threads, work)
            print(f"{name(path)}: {len(scripts) * len(PERIODS)} renders", file=sys.stderr)
    return found


# --- Screens


def tmux(server, *words):
    return subprocess.run(["tmux", "-L", server, "-f", "/dev/null", *words], capture_output=True, text=True).stdout


def still(screen):
    """Without what moves by itself: the status line's figures, bars and levels of meters (and colours beside them)."""
    lines = screen.split("\n")
    lines[0] = re.sub(r"\x1b\[[0-9;]*m", "", lines[0]).split("  ")[0]
    meter = re.compile(r"[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉·╌]")
    for number, line in enumerate(lines):
        if meter.search(line):
            plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
            lines[number] = re.sub(r"[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉·╌]+ *(-?\d+)? *", "·", plain)
    return "\n".join(lines)


def settled(server):
    """The screen once it is the same twice in a row; after five seconds as it is."""
    before, end = None, time.time() + 5
    while time.time() < end:
        time.sleep(0.06)
        now = still(tmux(server, "capture-pane", "-p", "-e"))
        if now == before:
            return now
        before = now
    return before


def screens(program, chosen):
    found = {}
    for path in chosen:
        for width, height in SIZES:
            server = f"sostenuto-baseline-{os.getpid()}"
            # The program may still write its journal when the terminal is gone.
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
                shutil.copytree(f"{ROOT}/Patches", f"{work}/Patches")
                os.symlink(f"{ROOT}/Instruments", f"{work}/Instruments")
                file = os.path.relpath(path, ROOT)
                os.environ["XDG_STATE_HOME"] = work
                command = f"cd {work} && exec {program} {file} --driver clock"
                tmux(server, "new-session", "-d", "-x", str(width), "-y", str(height), command)
                time.sleep(1)
                for number, key in enumerate(["-"] + KEYS):
                    if key != "-":
                        tmux(server, "send-keys", key)
                    found[f"{name(path)} {width}x{height} key {number} {key}"] = settled(server).replace(work, "WORK")
                tmux(server, "kill-server")
            print(f"{name(path)} {width}x{height}: {len(KEYS) + 1} screens", file=sys.stderr)
    return found


def shown():
    return [path for path in patches() if name(path) in
            ("reconnect", "basics-07-matrix", "basics-11-feedback", "basics-12-keys")]


def record(program, folder):
    os.makedirs(f"{folder}/scripts", exist_ok=True)
    shutil.copy(program, f"{folder}/sostenuto")
    program = f"{folder}/sostenuto"
    kinds = json.loads(subprocess.run([program, "kinds", "--json"], capture_output=True, text=True).stdout)
    kinds = {kind["name"]: kind for kind in kinds}
    kept = 0
    for path in patches():
        if "benchmarks" in path:
            continue
        for seed in range(SCRIPTS):
            lines = accepted(program, path, script(path, kinds, seed))
            kept += len(lines)
            with open(f"{folder}/scripts/{name(path)}.{seed}.script", "w") as file:
                file.write("\n".join(lines) + "\n")
    print(f"{kept} lines of script", file=sys.stderr)
    made = {"renders": renders(program, folder), "screens": screens(program, shown())}
    with open(f"{folder}/baseline.json", "w") as file:
        json.dump(made, file, indent=1, ensure_ascii=False)
    print(f"kept {len(made['renders'])} renders and {len(made['screens'])} screens in {folder}")


def compare(program, folder):
    kept = json.load(open(f"{folder}/baseline.json"))
    now = {"renders": renders(program, folder), "screens": screens(program, shown())}
    differing = []
    for what in ("renders", "screens"):
        names = [key for key in kept[what] if kept[what][key] != now[what].get(key)]
        differing += names
        print(f"{what}: {len(kept[what]) - len(names)} of {len(kept[what])} the same")
        for key in names[:20]:
            print(f"  differs: {key}")
            if what == "screens":
                pairs = zip(kept[what][key].split("\n"), now[what].get(key, "").split("\n"))
                print("\n".join(f"    was {a!r}\n    is  {b!r}" for a, b in pairs if a != b))
    return 1 if differing else 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "compare"):
        sys.exit(__doc__)
    program, folder = os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    sys.exit(record(program, folder) if sys.argv[1] == "record" else compare(program, folder))
