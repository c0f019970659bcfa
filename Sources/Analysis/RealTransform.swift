import CKissfft
import Glibc

/// The discrete Fourier transform of real samples, by KissFFT. One thread at a time.
final class RealTransform {
  /// Number of samples, even.
  let size: Int
  private let forward: kiss_fftr_cfg
  /// Transforms back to `size * fineness` values, the ones between the samples included.
  private let backward: kiss_fftr_cfg?
  private let fineness: Int
  private var bins: [kiss_fft_cpx]
  /// Memory of the way back, which is larger than what the allocator keeps at hand.
  private var backBins: [kiss_fft_cpx]
  private var back: [Float]

  /// `fineness`: values of the autocorrelation for each frame; 0: none is needed.
  init(size: Int, fineness: Int = 0) {
    self.size = size
    self.fineness = fineness
    forward = kiss_fftr_alloc(Int32(size), 0, nil, nil)
    backward = fineness > 0 ? kiss_fftr_alloc(Int32(size * fineness), 1, nil, nil) : nil
    bins = Array(repeating: kiss_fft_cpx(r: 0, i: 0), count: size / 2 + 1)
    backBins = Array(repeating: kiss_fft_cpx(r: 0, i: 0), count: fineness > 0 ? size * fineness / 2 + 1 : 0)
    back = Array(repeating: 0, count: size * fineness)
  }

  deinit {
    free(UnsafeMutableRawPointer(forward))
    if let backward { free(UnsafeMutableRawPointer(backward)) }
  }

  /// Squared magnitudes of bins 0 to `size / 2`.
  func powers(of samples: [Float]) -> [Float] {
    kiss_fftr(forward, samples, &bins)
    return bins.map { $0.r * $0.r + $0.i * $0.i }
  }

  /// The circular autocorrelation of samples, `fineness` values for each frame.
  func autocorrelation(of samples: [Float]) -> [Float] {
    guard let backward else { return [] }
    kiss_fftr(forward, samples, &bins)
    // Frequencies that the samples do not have are zero: the values between are those of the sound itself.
    let scale = 1 / Float(size)
    for (index, bin) in bins.enumerated() { backBins[index].r = scale * (bin.r * bin.r + bin.i * bin.i) }
    kiss_fftri(backward, backBins, &back)
    return back
  }
}
