"""Definitions of scsynth's, written as it reads them: its language, which compiles them, is a large package."""
import struct

SCALAR, CONTROL, AUDIO = 0, 1, 2
# Places in the tables of operators (SuperCollider's Opcodes.h).
BINARY = {"+": 0, "-": 1, "*": 2, ">": 9, "min": 12, "round": 19, "clip2": 42, "fold2": 44}
UNARY = {"sin": 28, "tanh": 36}


class SynthDef:
    """Unit generators in the order in which they are added. A signal is a pair of a unit and its output."""

    def __init__(self, name, **controls):
        self.name, self.controls = name, controls
        self.constants, self.units = {}, []
        if controls:
            self.unit("Control", outputs=len(controls), rate=CONTROL)

    def control(self, name):
        return 0, list(self.controls).index(name)

    def unit(self, kind, *inputs, outputs=1, rate=AUDIO, special=0):
        """Its first output, or all of them if it has several."""
        places = []
        for value in inputs:
            if isinstance(value, tuple):
                places.append(value)
            else:
                places.append((-1, self.constants.setdefault(float(value), len(self.constants))))
        self.units.append((kind, rate, special, places, outputs))
        index = len(self.units) - 1
        return (index, 0) if outputs <= 1 else [(index, output) for output in range(outputs)]

    def binary(self, operator, a, b, rate=AUDIO):
        return self.unit("BinaryOpUGen", a, b, special=BINARY[operator], rate=rate)

    def unary(self, operator, a):
        return self.unit("UnaryOpUGen", a, special=UNARY[operator])

    def data(self):
        def text(value):
            return bytes([len(value)]) + value.encode()

        parts = [b"SCgf", struct.pack(">ih", 2, 1), text(self.name)]
        parts.append(struct.pack(f">i{len(self.constants)}f", len(self.constants), *self.constants))
        parts.append(struct.pack(f">i{len(self.controls)}f", len(self.controls), *self.controls.values()))
        parts.append(struct.pack(">i", len(self.controls)))
        parts += [text(name) + struct.pack(">i", i) for i, name in enumerate(self.controls)]
        parts.append(struct.pack(">i", len(self.units)))
        for kind, rate, special, places, outputs in self.units:
            parts.append(text(kind) + struct.pack(">biih", rate, len(places), outputs, special))
            parts += [struct.pack(">ii", *place) for place in places]
            parts.append(bytes([rate] * outputs))
        parts.append(struct.pack(">h", 0))
        return b"".join(parts)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data())
