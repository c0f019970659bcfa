#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Quotients and roots without the divider. Of sixteen floats that takes 9 cycles for a quotient and 17 for a root (Zen 4), and
   nothing else may use it meanwhile. An estimate and one step of Newton's method are three or four instructions of a cycle
   each, and wrong by two units in the last place at most. Numbers have to be positive, and no smaller than 1e-37: the estimate
   of what is smaller may be infinite. */

/* 1 / v. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_inverses(sostenuto_frames v) {
#if defined(__AVX512F__)
  typedef float floats __attribute__((vector_size(64)));
  sostenuto_frames y = (sostenuto_frames)__builtin_ia32_rcp14ps512_mask((floats)v, (floats)v, (unsigned short)-1);
  return y + y * (1.0f - v * y);
#elif defined(__AVX2__) && defined(__FMA__)
  typedef float floats __attribute__((vector_size(32)));
  sostenuto_eight low = (sostenuto_eight)__builtin_ia32_rcpps256((floats)v.lo);
  sostenuto_eight high = (sostenuto_eight)__builtin_ia32_rcpps256((floats)v.hi);
  sostenuto_frames y = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  sostenuto_frames rest = 1.0f - v * y;
  // The estimate has 12 bits: the second term of the series is worth an instruction.
  return y + y * (rest * rest + rest);
#else
  return 1.0f / v;
#endif
}

/* 1 over the square root of v. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_inverse_roots(sostenuto_frames v) {
#if defined(__AVX512F__)
  typedef float floats __attribute__((vector_size(64)));
  sostenuto_frames y = (sostenuto_frames)__builtin_ia32_rsqrt14ps512_mask((floats)v, (floats)v, (unsigned short)-1);
  return y + (0.5f * y) * (1.0f - (v * y) * y);
#elif defined(__AVX2__) && defined(__FMA__)
  typedef float floats __attribute__((vector_size(32)));
  sostenuto_eight low = (sostenuto_eight)__builtin_ia32_rsqrtps256((floats)v.lo);
  sostenuto_eight high = (sostenuto_eight)__builtin_ia32_rsqrtps256((floats)v.hi);
  sostenuto_frames y = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  sostenuto_frames rest = 1.0f - (v * y) * y;
  return y + y * (rest * (rest * 0.375f + 0.5f));
#else
  return 1.0f / __builtin_elementwise_sqrt(v);
#endif
}
