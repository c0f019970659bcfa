#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* All-passes of the first order in a row, of eight channels whose frames follow each other, with the sum of all of them fed
   back without delay. The frames become the end of the row. `numbers` has the pole of each frame and channel, as frames; each
   stage gives y = a x + (1 - a) s and keeps s = (1 + a) x - a s (the trapezoidal rule; V. Zavalishin, "The Art of VA Filter
   Design", 2018, 3.10 and 5.3). Its end is a^n u + t with t from the states alone, so u = (x + k t) / (1 - k a^n): the quotient does not wait for the
   states. */
SOSTENUTO_VECTOR void sostenuto_pass_stages(float *frames, const float *poles, const float *feedback, float *states, long long stages,
                                            long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight s[12];
#pragma clang loop unroll(full)
  for (int i = 0; i < 12; i++) s[i] = *(row_of_memory *)(states + 8 * i);
  for (long long f = 0; f < count; f++) {
    sostenuto_eight x = *(row_of_memory *)(frames + 8 * f), a = *(const row_of_memory *)(poles + 8 * f), b = 1.0f - a;
    sostenuto_eight t = 0, power = 1;
#pragma clang loop unroll(full)
    for (int i = 0; i < stages; i++) {
      t = a * t + b * s[i];
      power *= a;
    }
    sostenuto_eight part = 1.0f / (1.0f - feedback[f] * power), back = feedback[f] * part;
    sostenuto_eight u = back * t + x * part;
#pragma clang loop unroll(full)
    for (int i = 0; i < stages; i++) {
      sostenuto_eight y = a * u + b * s[i];
      s[i] = (1.0f + a) * u - a * s[i];
      u = y;
    }
    *(row_of_memory *)(frames + 8 * f) = u;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 12; i++) *(row_of_memory *)(states + 8 * i) = s[i];
}

/* The same with a loop of its own for the usual numbers of stages, whose states are in registers where there are 32 of these. */
SOSTENUTO_VECTOR void sostenuto_pass_eight(float *frames, const float *poles, const float *feedback, float *states, long long stages,
                                           long long count) {
#ifdef __AVX512F__
  switch (stages) {
    case 2: return sostenuto_pass_stages(frames, poles, feedback, states, 2, count);
    case 4: return sostenuto_pass_stages(frames, poles, feedback, states, 4, count);
    case 6: return sostenuto_pass_stages(frames, poles, feedback, states, 6, count);
    case 8: return sostenuto_pass_stages(frames, poles, feedback, states, 8, count);
    case 12: return sostenuto_pass_stages(frames, poles, feedback, states, 12, count);
    default: break;
  }
#endif
  sostenuto_pass_stages(frames, poles, feedback, states, stages, count);
}
