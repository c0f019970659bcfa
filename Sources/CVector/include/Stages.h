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

/* The same of one channel, whose frames and poles follow each other, and of seven stages at most: a lane for each stage, and
   one for the end. A frame is then a product of a matrix with the states, so it waits for one sum and not for one stage after
   the other: stage i gets x_i = a^i u + (1 - a) (sum of a^(i - 1 - j) s_j for j < i).
   The powers lie behind eight zeros, so that a matrix's column is read where it begins. `states` has a place for eight
   channels of each stage; `work` is room for 440 numbers. */
SOSTENUTO_VECTOR void sostenuto_pass_row(float *frames, const float *poles, const float *feedback, float *states, float *work,
                                         long long stages, long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_eight none = 0, one = 1;
  const __typeof__(none < none) lane = {0, 1, 2, 3, 4, 5, 6, 7};
  sostenuto_eight s = {states[0], states[8], states[16], states[24], states[32], states[40], states[48], states[56]};
  float *rows = work, *powers = work + 128, *parts = work + 384, *backs = work + 400, *ends = work + 416;
#pragma clang loop unroll(full)
  for (int f = 0; f < 16; f++) *(row_of_memory *)(powers + 16 * f) = none;
  for (long long first = 0; first < count; first += 16) {
    sostenuto_frames a = *(const frames_of_memory *)(poles + first), k = *(const frames_of_memory *)(feedback + first), power = 1;
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      *(frames_of_memory *)(rows + 16 * i) = power;
      if (i == stages) {
        sostenuto_frames part = 1.0f / (1.0f - k * power);
        *(frames_of_memory *)parts = part;
        *(frames_of_memory *)backs = k * part;
      }
      power *= a;
    }
    sostenuto_turn_eight(rows, 16, powers + 8, 16);
    sostenuto_turn_eight(rows + 8, 16, powers + 136, 16);
    long long rest = count - first < 16 ? count - first : 16;
    for (long long f = 0; f < rest; f++) {
      const float *of_frame = powers + 16 * f + 8;
      sostenuto_eight pole = poles[first + f], b = 1.0f - pole;
      sostenuto_eight keep = lane == (int)stages ? one : 1.0f + pole, own = lane == (int)stages ? none : -pole;
      sostenuto_eight through = keep * *(const row_of_memory *)of_frame, below = keep * b, around = through * (b * backs[f]);
      sostenuto_eight sum = own * s + through * (parts[f] * frames[first + f]), more = 0;
#pragma clang loop unroll(full)
      for (int j = 0; j < stages; j++) {
        sostenuto_eight column = around * of_frame[stages - 1 - j] + below * *(const row_of_memory *)(of_frame - 1 - j);
        if (j % 2) more += column * s[j]; else sum += column * s[j];
      }
      s = sum + more;
      // The end comes first; what is behind it is written over by the frames to come.
      *(row_of_memory *)(ends + f) = (sostenuto_eight)s[stages];
    }
    *(frames_of_memory *)(frames + first) = *(frames_of_memory *)ends;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) states[8 * i] = i < stages ? s[i] : 0;
}

/* The same with a loop of its own for each number of stages, 2 to 7. */
SOSTENUTO_VECTOR void sostenuto_pass_one(float *frames, const float *poles, const float *feedback, float *states, float *work,
                                         long long stages, long long count) {
  switch (stages) {
    case 2: return sostenuto_pass_row(frames, poles, feedback, states, work, 2, count);
    case 3: return sostenuto_pass_row(frames, poles, feedback, states, work, 3, count);
    case 4: return sostenuto_pass_row(frames, poles, feedback, states, work, 4, count);
    case 5: return sostenuto_pass_row(frames, poles, feedback, states, work, 5, count);
    case 6: return sostenuto_pass_row(frames, poles, feedback, states, work, 6, count);
    default: return sostenuto_pass_row(frames, poles, feedback, states, work, 7, count);
  }
}
