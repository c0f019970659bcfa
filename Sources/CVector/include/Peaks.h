#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Peaks between frames, and a gain that keeps below them without a corner. */

/* The largest magnitudes of sixteen frames and of what is between each and the next, four times the rate: by the filter of ITU-R
   BS.1770-4, Annex 2, and by a sinc of 24 frames (Kaiser's window, beta 6), which is flatter up to the top. Frame 0 is twelve
   frames before `x`; what is read begins 23 before it. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_true_peaks(const float *x) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  static const float quarter[24] = {-0.000721878f, 0.001758137f,  -0.003511261f, 0.006258483f,  -0.010352713f, 0.016276642f,
                                    -0.024775187f, 0.037195597f,  -0.056478218f, 0.090810120f,  -0.174824516f, 0.899468849f,
                                    0.296984252f,  -0.121339369f, 0.070782841f,  -0.045673232f, 0.030368976f,  -0.020140510f,
                                    0.013048002f,  -0.008111090f, 0.004740734f,  -0.002529187f, 0.001165484f,  -0.000400958f};
  static const float half[12] = {-0.000774516f, 0.002038650f,  -0.004231224f, 0.007723427f,  -0.012982932f, 0.020635043f,
                                 -0.031612194f, 0.047530738f,  -0.071745514f, 0.112966349f,  -0.203359512f, 0.633811685f};
  static const float first[12] = {0.0017089843750f, 0.0109863281250f, -0.0196533203125f, 0.0332031250000f,
                                  -0.0594482421875f, 0.1373291015625f, 0.9721679687500f, -0.1022949218750f,
                                  0.0476074218750f, -0.0266113281250f, 0.0148925781250f, -0.0083007812500f};
  static const float second[12] = {-0.0291748046875f, 0.0292968750000f, -0.0517578125000f, 0.0891113281250f,
                                   -0.1665039062500f, 0.4650878906250f, 0.7797851562500f, -0.2003173828125f,
                                   0.1015625000000f, -0.0582275390625f, 0.0330810546875f, -0.0189208984375f};
  sostenuto_frames a = 0, b = 0, c = 0, p = 0, q = 0, r = 0, s = 0;
#pragma clang loop unroll(full)
  for (int k = 0; k < 24; k++) {
    sostenuto_frames v = *(const frames_of_memory *)(x - 23 + k);
    a = v * quarter[k] + a;
    b = v * half[k < 12 ? k : 23 - k] + b;
    c = v * quarter[23 - k] + c;
  }
#pragma clang loop unroll(full)
  for (int k = 0; k < 12; k++) {
    sostenuto_frames v = *(const frames_of_memory *)(x - 6 - k);
    p = v * first[k] + p;
    q = v * second[k] + q;
    r = v * second[11 - k] + r;
    s = v * first[11 - k] + s;
  }
  sostenuto_frames most = __builtin_elementwise_abs(*(const frames_of_memory *)(x - 12));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(a));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(b));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(c));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(p));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(q));
  most = __builtin_elementwise_max(most, __builtin_elementwise_abs(r));
  return __builtin_elementwise_max(most, __builtin_elementwise_abs(s));
}

/* The least of each of 64 numbers and the `window` - 1 before it, by minima of twice as many each time; to the same place of
   `work`, which has room for 144 more before the window. */
SOSTENUTO_VECTOR void sostenuto_least_of_last(const float *numbers, float *work, long long window) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  long long start = -((window + 14) & ~15), step = 1;
  for (long long n = start; n < 64; n += 16) *(frames_of_memory *)(work + n) = *(const frames_of_memory *)(numbers + n);
  // From the end on, since a number may take the place of one that is still to be read.
  for (; 2 * step <= window; step *= 2) {
    for (long long n = 48; n >= start; n -= 16) {
      sostenuto_frames v = *(frames_of_memory *)(work + n), earlier = *(frames_of_memory *)(work + n - step);
      *(frames_of_memory *)(work + n) = __builtin_elementwise_min(v, earlier);
    }
  }
  for (long long n = 48; n >= 0; n -= 16) {
    sostenuto_frames v = *(frames_of_memory *)(work + n), earlier = *(frames_of_memory *)(work + n - (window - step));
    *(frames_of_memory *)(work + n) = __builtin_elementwise_min(v, earlier);
  }
}

/* Gains that go down at once, and back by these shares of the way; in place. Returns what the last one is below 1: near 0 such a
   number is exact, where near 1 the last of the way would be rounded away. A little is taken from it in each frame, so that it
   becomes 0. */
SOSTENUTO_VECTOR float sostenuto_recover(float *gains, float below, const float *shares, long long frames) {
  for (long long f = 0; f < frames; f++) {
    float asked = 1.0f - gains[f], left = (1.0f - shares[f]) * below - 1e-9f;
    below = asked > left ? asked : left;
    gains[f] = 1.0f - below;
  }
  return below;
}

/* Sums of 2^order whole numbers each: the numbers before are there too, and `sum` is the last one. Returns the new last one. */
SOSTENUTO_VECTOR int sostenuto_sums_of_last(const int *numbers, int *sums, int sum, long long order, long long frames) {
  typedef int integers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_integers before = sum;
  for (long long n = 0; n < frames; n += 16) {
    sostenuto_integers more = *(const integers_of_memory *)(numbers + n) - *(const integers_of_memory *)(numbers + n - (1LL << order));
    sostenuto_integers all = sostenuto_running_sums(more) + before;
    *(integers_of_memory *)(sums + n) = all;
    before = sostenuto_last(all);
  }
  return sums[frames - 1];
}

/* Parts of 2^22, rounded down; sums of 2^order of them as means; and means of such as gains. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_parts(sostenuto_frames v) { return __builtin_convertvector(v * 4194304.0f, sostenuto_integers); }
SOSTENUTO_VECTOR sostenuto_integers sostenuto_means(sostenuto_integers sums, int order) { return sums >> (sostenuto_integers)order; }
SOSTENUTO_VECTOR sostenuto_frames sostenuto_gains(sostenuto_integers parts) {
  return __builtin_convertvector(parts, sostenuto_frames) * (1.0f / 4194304.0f);
}
