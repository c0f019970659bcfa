"""The real program in a terminal of tmux's, which is driven by keys and read."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Run:
    """The program with a copy of the demo, on its clock driver, in a terminal and a folder of its own."""

    def __init__(self, program, columns, rows, look="COLORTERM=truecolor"):
        self.folder = tempfile.mkdtemp()
        patches = os.path.join(self.folder, "Patches")
        os.makedirs(patches)
        shutil.copy(f"{ROOT}/Patches/reconnect.patch", patches)
        os.symlink(f"{ROOT}/Instruments", f"{self.folder}/Instruments")
        self.server = f"sostenuto-{os.getpid()}"
        # A test's threads block signals, and a terminal that had the mask of theirs could not be ended.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        home = f"HOME={self.folder} XDG_STATE_HOME={self.folder} XDG_CONFIG_HOME={self.folder} {look}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  f"env {home} LANG=C.UTF-8 TERM=tmux-256color '{program}' '{patches}/reconnect.patch' --driver clock --period 1024; cat")
        self.see("clock 48 kHz")
        self.see("organ.sfz")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-u", "-L", self.server, *words], capture_output=True, text=True, check=True).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def see(self, words):
        end = time.monotonic() + 30
        while words not in self.text():
            if time.monotonic() > end:
                sys.exit(f"`{words}` is not on the screen:\n{self.text()}")
            time.sleep(0.05)

    def do(self, step):
        verb, _, rest = step.partition(" ")
        if verb == "key":
            self.tmux("send-keys", rest)
        elif verb == "text":
            self.tmux("send-keys", "-l", "--", rest)
        elif verb == "see":
            self.see(rest)
        elif verb == "rest":
            time.sleep(float(rest))
        elif verb == "line":
            self.tmux("send-keys", ":")
            self.tmux("send-keys", "-l", "--", rest)
            self.tmux("send-keys", "Enter")

    def end(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)
        # The program may still write while it ends.
        shutil.rmtree(self.folder, ignore_errors=True)
