#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Sixteen delay lines that feed each other. */

/* Sixteen vectors, multiplied with a Hadamard matrix. */
SOSTENUTO_VECTOR void sostenuto_hadamard_sixteen(sostenuto_frames *v) {
#pragma clang loop unroll(full)
  for (int step = 1; step < 16; step *= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      if (i & step) continue;
      sostenuto_frames a = v[i], b = v[i + step];
      v[i] = a + b;
      v[i + step] = a - b;
    }
  }
}

/* Sixteen rows of sixteen frames, multiplied with that matrix and a factor; in place. */
SOSTENUTO_VECTOR void sostenuto_mix_sixteen(float *rows, long long stride, float factor) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames v[16];
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) v[i] = *(frames_of_memory *)(rows + i * stride);
  sostenuto_hadamard_sixteen(v);
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) *(frames_of_memory *)(rows + i * stride) = v[i] * factor;
}

/* The same, with `even` or `odd` added to every other row, into the rows and to `places` as well, `frame` frames further. */
SOSTENUTO_VECTOR void sostenuto_mix_sixteen_to(float *rows, long long stride, float factor, const float *even, const float *odd,
                                               float *const *places, long long frame) {
#pragma clang fp contract(off)
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames v[16], more[2] = {*(const frames_of_memory *)even, *(const frames_of_memory *)odd};
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) v[i] = *(frames_of_memory *)(rows + i * stride);
  sostenuto_hadamard_sixteen(v);
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) {
    sostenuto_frames sum = v[i] * factor + more[i & 1];
    *(frames_of_memory *)(rows + i * stride) = sum;
    *(frames_of_memory *)(places[i] + frame) = sum;
  }
}

/* Two filters of the first order in series on sixteen channels, whose frames follow each other; in place. `numbers` are
   three coefficients of each, b0, b1 and a1, and behind them two states; each frame adds `steps` to the coefficients, if
   there are any. */
SOSTENUTO_VECTOR void sostenuto_shelve_sixteen(float *frames, float *numbers, const float *steps, long long count) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames c[8], d[6];
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) c[i] = *(frames_of_memory *)(numbers + 16 * i);
#pragma clang loop unroll(full)
  for (int i = 0; i < 6; i++) d[i] = steps ? *(const frames_of_memory *)(steps + 16 * i) : (sostenuto_frames)0.0f;
  for (long long n = 0; n < count; n++) {
    if (steps) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 6; i++) c[i] += d[i];
    }
    sostenuto_frames x = *(frames_of_memory *)(frames + 16 * n), y = c[0] * x + c[6], z = c[3] * y + c[7], next = c[1] * x;
    c[6] = next - c[2] * y;
    next = c[4] * y;
    c[7] = next - c[5] * z;
    *(frames_of_memory *)(frames + 16 * n) = z;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) *(frames_of_memory *)(numbers + 16 * i) = c[i];
}
