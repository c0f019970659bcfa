"""What `make bench-kinds` has of each kind: its settings, none of them special, which ports are moved, and the nearest that
the peers have. Theirs are moved at the rate of sound where they can be, else once a block (`Graph.slow`).
"""
from works.controls import *
from works.curves import *
from works.delays import *
from works.dynamics import *
from works.filters import *
from works.mixing import *
from works.samples import *
from works.sources import *
