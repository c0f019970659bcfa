#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Sines of phases, of which 2^32 are a whole turn, and numbers of turns as such phases. */

typedef int sostenuto_eight_turns __attribute__((ext_vector_type(8)));

/* Any number of turns as a phase: what is left beside the nearest whole number, in halves, since a half turn has no number of its
   own. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_turns(sostenuto_frames turns) {
  sostenuto_frames rest = turns - ((turns + 12582912.0f) - 12582912.0f);
  return __builtin_convertvector(rest * 2147483648.0f, sostenuto_integers) << 1;
}

/* The sine of a phase, as `Corners.sine` has it of sixteen. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_sines_of_eight(sostenuto_eight_turns phase) {
  sostenuto_eight_turns outer = (phase ^ (phase << 1)) >> 31;
  sostenuto_eight_turns folded = phase ^ ((phase ^ ((sostenuto_eight_turns)(int)0x80000000 - phase)) & outer);
  sostenuto_eight x = __builtin_convertvector(folded, sostenuto_eight) * (1.0f / 1073741824.0f), s = x * x;
  sostenuto_eight sum = s * (sostenuto_eight)1.5148513e-4f + (sostenuto_eight)-4.6737664e-3f;
  sum = sum * s + (sostenuto_eight)7.968968e-2f;
  sum = sum * s + (sostenuto_eight)-0.6459637f;
  sum = sum * s + (sostenuto_eight)1.5707964f;
  return x * sum;
}

/* Eight sines that move their own phases, by the mean of their last two values, which are in `states` (the newest first). The
   mean keeps a strong feedback from hunting between two values (N. Tomisawa, "Tone production method for an electronic musical
   instrument", 1981). `phases`: eight for each frame, which become the sines; `feedback`: turns for each frame and lane. */
SOSTENUTO_VECTOR void sostenuto_turn_back_eight(float *phases, const float *feedback, float *states, long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight newest = *(row_of_memory *)states, older = *(row_of_memory *)(states + 8);
  for (long long frame = 0; frame < count; frame++) {
    sostenuto_eight turns = (newest + older) * (0.5f * *(const row_of_memory *)(feedback + 8 * frame));
    turns = turns - ((turns + 12582912.0f) - 12582912.0f);
    sostenuto_eight_turns phase = (sostenuto_eight_turns) * (row_of_memory *)(phases + 8 * frame);
    older = newest;
    newest = sostenuto_sines_of_eight(phase + (__builtin_convertvector(turns * 2147483648.0f, sostenuto_eight_turns) << 1));
    *(row_of_memory *)(phases + 8 * frame) = newest;
  }
  *(row_of_memory *)states = newest;
  *(row_of_memory *)(states + 8) = older;
}
