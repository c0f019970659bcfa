import Glibc

@testable import Processors

/// Positions of the parameters of a chorus or flanger.
typealias Swept = SweptDelay.Position

/// Amplitude of one frequency in a signal. The signal should hold a whole number of cycles.
func amplitude(_ signal: ArraySlice<Float>, _ frequency: Double, rate: Double = 48000) -> Double {
  2 * magnitude(signal, frequency, rate) / Double(signal.count)
}

/// Magnitude of a steady system's response at `frequency`, from its impulse response.
func response(_ impulse: [Float], _ frequency: Double, rate: Double = 48000) -> Double {
  magnitude(impulse[...], frequency, rate)
}

/// One bin of the Fourier transform, in double precision. The rotating phasor is recomputed at intervals.
private func magnitude(_ signal: ArraySlice<Float>, _ frequency: Double, _ rate: Double) -> Double {
  let w = 2 * Double.pi * frequency / rate
  let turnRe = cos(w)
  let turnIm = -sin(w)
  var re = 0.0
  var im = 0.0
  signal.withUnsafeBufferPointer { samples in
    var a = 1.0
    var b = 0.0
    for n in 0..<samples.count {
      if n & 255 == 0 {
        a = cos(w * Double(n))
        b = -sin(w * Double(n))
      }
      let x = Double(samples[n])
      re += x * a
      im += x * b
      (a, b) = (a * turnRe - b * turnIm, a * turnIm + b * turnRe)
    }
  }
  return (re * re + im * im).squareRoot()
}

func decibels(_ amplitude: Double) -> Double { 20 * log10(max(amplitude, 1e-20)) }

func peak(_ signal: [Float]) -> Float { signal.map(\.magnitude).max() ?? 0 }

/// The largest error in parts of the expected sample, or of a thousandth where that is less. 0: the same bits, or zeros of
/// another sign.
func relativeError(_ signal: some Collection<Float>, _ expected: some Collection<Float>) -> Float {
  zip(signal, expected).reduce(signal.count == expected.count ? 0 : .infinity) { most, pair in
    let error = pair.0 == pair.1 ? 0 : abs(pair.0 - pair.1) / max(abs(pair.1), 1e-3)
    return error.isNaN ? .infinity : max(most, error)
  }
}

/// Largest step between neighbouring frames.
func largestStep(_ signal: [Float]) -> Float {
  zip(signal, signal.dropFirst()).map { ($1 - $0).magnitude }.max() ?? 0
}

/// First position at which the bits of two runs differ, as text; nil if all are equal.
func firstDifference(_ a: [[[Float]]], _ b: [[[Float]]]) -> String? {
  for port in a.indices {
    for channel in a[port].indices {
      for frame in a[port][channel].indices
      where a[port][channel][frame].bitPattern != b[port][channel][frame].bitPattern {
        return "port \(port) channel \(channel) frame \(frame): \(a[port][channel][frame]) and "
          + "\(b[port][channel][frame])"
      }
    }
  }
  return nil
}

/// Silence with a one at a frame.
func impulse(_ frames: Int, at frame: Int = 0) -> [Float] {
  var signal = [Float](repeating: 0, count: frames)
  signal[frame] = 1
  return signal
}
