#pragma once

#include "CVector.h"
#include "Dynamics.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Gates and the courses that they begin. */

/* Which of 64 frames are above a level: bit 0 is the first one. vcmpltps into a mask, or vmovmskps. */
SOSTENUTO_VECTOR unsigned long long sostenuto_bits_above(const float *v, float level) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef _Bool flags __attribute__((ext_vector_type(16)));
  unsigned long long bits = 0;
  for (int part = 3; part >= 0; part--) {
    flags over = __builtin_convertvector(*(const frames_of_memory *)(v + 16 * part) > level, flags);
    unsigned short sixteen;
    __builtin_memcpy(&sixteen, &over, 2);
    bits = bits << 16 | sixteen;
  }
  return bits;
}

/* Which of 64 frames a phase wraps in, that moves by `step` before each: there it comes out below its step. */
SOSTENUTO_VECTOR unsigned long long sostenuto_wrapped_bits(unsigned start, unsigned step) {
  typedef unsigned phases __attribute__((ext_vector_type(16)));
  typedef _Bool flags __attribute__((ext_vector_type(16)));
  const phases numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  unsigned long long bits = 0;
  for (int part = 3; part >= 0; part--) {
    flags wrapped = __builtin_convertvector((numbers + (unsigned)(16 * part)) * step + start < step, flags);
    unsigned short sixteen;
    __builtin_memcpy(&sixteen, &wrapped, 2);
    bits = bits << 16 | sixteen;
  }
  return bits;
}

/* Sixteen frames in which the last number is held whose bit is set, and until the first what was held before. Of whole
   numbers a float's exponent is the place of the highest bit. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_held(sostenuto_frames numbers, sostenuto_frames before, unsigned bits) {
  const sostenuto_integers so_far = {0x1,   0x3,   0x7,   0xF,   0x1F,   0x3F,   0x7F,   0xFF,
                                     0x1FF, 0x3FF, 0x7FF, 0xFFF, 0x1FFF, 0x3FFF, 0x7FFF, 0xFFFF};
  sostenuto_integers set = (int)bits & so_far;
  sostenuto_integers places = ((sostenuto_integers)__builtin_convertvector(set, sostenuto_frames) >> 23) - 127;
#if defined(__AVX512F__)
  typedef float floats __attribute__((vector_size(64)));
  typedef int integers __attribute__((vector_size(64)));
  sostenuto_frames picked = (sostenuto_frames)__builtin_ia32_permvarsf512((floats)numbers, (integers)places);
#else
  sostenuto_frames low = sostenuto_pick_of_eight(numbers.lo, (sostenuto_bits)(places & 7));
  sostenuto_frames high = sostenuto_pick_of_eight(numbers.hi, (sostenuto_bits)(places & 7));
  sostenuto_frames picked = places > 7 ? high : low;
#endif
  return set == 0 ? before : picked;
}

/* The last of sixteen frames in all of them. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_repeat_last(sostenuto_frames v) {
  return __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
}

/* Sixteen numbers from `start` on, `step` apart. Of whole numbers below 2^53 they are exact until they become floats. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_line(double start, double step) {
  typedef double doubles __attribute__((ext_vector_type(8)));
  const doubles low = {0, 1, 2, 3, 4, 5, 6, 7}, high = {8, 9, 10, 11, 12, 13, 14, 15};
  sostenuto_frames line;
  line.lo = __builtin_convertvector(low * step + start, sostenuto_eight);
  line.hi = __builtin_convertvector(high * step + start, sostenuto_eight);
  return line;
}

/* One for each bit that is set, from the lowest on, else zero: vbroadcastss through a mask. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_ones(unsigned bits) {
  const sostenuto_integers places = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  sostenuto_integers set = ((sostenuto_integers)(int)bits & places) != 0;
  return (sostenuto_frames)(set & 0x3f800000);
}

/* One where a frame of 64 is above a level, else zero. Bit 0 of the result: some frame is; bit 1: the last one is. `mayBeLeft`: where
   none is, nothing is written. */
SOSTENUTO_VECTOR unsigned sostenuto_write_above(const float *v, float *to, float level, _Bool mayBeLeft) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef _Bool flags __attribute__((ext_vector_type(16)));
  sostenuto_integers open[4];
  for (int part = 0; part < 4; part++) open[part] = *(const frames_of_memory *)(v + part * 16) > level;
  const _Bool any = __builtin_reduce_or((open[0] | open[1]) | (open[2] | open[3])) != 0;
  if (mayBeLeft && !any) return 0;
  for (int part = 0; part < 4; part++) *(frames_of_memory *)(to + part * 16) = (sostenuto_frames)(open[part] & 0x3f800000);
  /* From the mask: to read it back from `to` would wait for the write. */
  const flags last = __builtin_convertvector(open[3], flags);
  unsigned short bits;
  __builtin_memcpy(&bits, &last, 2);
  return (unsigned)any | bits >> 15 << 1;
}

/* Of 64 frames of two gates: one where both are open, where any is (1), or where one alone is (2), else zero. True: in some
   frame it is. What `to` holds may be one of both. */
SOSTENUTO_VECTOR _Bool sostenuto_combine_gates(const float *a, const float *b, float *to, int operation) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_integers any = 0;
  for (int frame = 0; frame < 64; frame += 16) {
    sostenuto_integers first = *(const frames_of_memory *)(a + frame) > 0.0f, second = *(const frames_of_memory *)(b + frame) > 0.0f;
    sostenuto_integers open = operation == 0 ? first & second : operation == 1 ? first | second : first ^ second;
    open &= 0x3f800000;
    any |= open;
    *(frames_of_memory *)(to + frame) = (sostenuto_frames)open;
  }
  return __builtin_reduce_or(any) != 0;
}

/* Which of 64 frames are above others. */
SOSTENUTO_VECTOR unsigned long long sostenuto_greater_bits(const float *v, const float *limits) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef _Bool flags __attribute__((ext_vector_type(16)));
  unsigned long long bits = 0;
  for (int part = 3; part >= 0; part--) {
    flags over = __builtin_convertvector(*(const frames_of_memory *)(v + 16 * part) > *(const frames_of_memory *)(limits + 16 * part), flags);
    unsigned short sixteen;
    __builtin_memcpy(&sixteen, &over, 2);
    bits = bits << 16 | sixteen;
  }
  return bits;
}

/* Values in doubles: a way of minutes has steps that a float would round away. */
typedef double sostenuto_eight_doubles __attribute__((ext_vector_type(8)));
typedef double sostenuto_two_doubles __attribute__((ext_vector_type(2)));

/* The next value of one that goes to its target by `up` or `down` at most. */
#define SOSTENUTO_SLEW(value, target, up, down)                   \
  __typeof__(value) most = (value) + (up), least = (value) - (down); \
  value = (target) > least ? (target) : least;                    \
  value = value < most ? value : most;

/* A value that goes to its target by `up` or `down` a frame at most; in place. Returns the last one. */
SOSTENUTO_VECTOR double sostenuto_slew(float *targets, double value, const float *up, const float *down, long long frames) {
  for (long long f = 0; f < frames; f++) {
    double target = targets[f];
    SOSTENUTO_SLEW(value, target, (double)up[f], (double)down[f])
    targets[f] = (float)value;
  }
  return value;
}

/* True when the slew reaches each target in its own frame, as with a slow signal or one at rest: the targets are the output then.
   Steps are rounded to floats, so they are compared with a limit that is slightly smaller: `sostenuto_slew` would give the same bits.
   `frames`: whole sixteens of memory. */
SOSTENUTO_VECTOR _Bool sostenuto_slew_keeps_up(const float *targets, double value, const float *up, const float *down, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_frames nearly = 0x0.fffffp0f;
  double first = targets[0];
  if (!(first >= value - (double)down[0] && first <= value + (double)up[0])) return 0;
  sostenuto_frames before = targets[0];
  sostenuto_integers leaves = 0;
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames now = *(const frames_of_memory *)(targets + f);
    sostenuto_frames step = now - __builtin_shufflevector(before, now, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    leaves |= (step > *(const frames_of_memory *)(up + f) * nearly) | (step < *(const frames_of_memory *)(down + f) * -nearly);
    before = now;
  }
  return __builtin_reduce_or(leaves) == 0;
}

/* The same of two channels side by side. */
SOSTENUTO_VECTOR void sostenuto_slew_two(float *one, float *other, double *values, const float *up, const float *down,
                                         long long frames) {
  sostenuto_two_doubles now = {values[0], values[1]};
  for (long long f = 0; f < frames; f++) {
    sostenuto_two_doubles target = {one[f], other[f]};
    SOSTENUTO_SLEW(now, target, (double)up[f], (double)down[f])
    one[f] = (float)now.x;
    other[f] = (float)now.y;
  }
  values[0] = now.x;
  values[1] = now.y;
}

/* The same of eight channels, whose targets in a frame follow each other. */
SOSTENUTO_VECTOR void sostenuto_slew_eight(float *targets, double *values, const float *up, const float *down,
                                           long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double row_of_values __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_eight_doubles now = *(row_of_values *)values;
  for (long long f = 0; f < frames; f++) {
    sostenuto_eight_doubles target = __builtin_convertvector(*(row_of_memory *)(targets + 8 * f), sostenuto_eight_doubles);
    SOSTENUTO_SLEW(now, target, (double)up[f], (double)down[f])
    *(row_of_memory *)(targets + 8 * f) = __builtin_convertvector(now, sostenuto_eight);
  }
  *(row_of_values *)values = now;
}

/* A one-pole that rises by the share `up` and falls by the share `down` of the distance to its target in each frame; in place. Both
   ways are calculated and the right one chosen, as in `sostenuto_follow`, so a frame waits for one product and one comparison. All
   that depends on the targets alone is calculated for sixteen frames beforehand. Where sixteen targets lie on one side of the value,
   as those of a slow signal mostly do, only that way is calculated, and a frame waits for one product. Both ways are compared
   afterwards; where one frame went the wrong way, the sixteen are done again. `work`: 136 doubles. Returns the last value. */
#define SOSTENUTO_GLIDE(larger)                                                                                      \
  for (int i = 0; i < 16; i++) {                                                                                     \
    double rises = keeps[0][i] * value + gains[0][i], falls = keeps[1][i] * value + gains[1][i];                     \
    value = (larger) ? (rises > falls ? rises : falls) : (rises < falls ? rises : falls);                            \
    course[f + i] = value;                                                                                           \
  }
SOSTENUTO_VECTOR double sostenuto_glide(float *targets, double value, const float *up, const float *down, long long frames,
                                        double *work) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double row_of_values __attribute__((ext_vector_type(8), aligned(8)));
  typedef long long row_of_signs __attribute__((ext_vector_type(8)));
  // Two rows each: the way up, and the way down. In front of the course stands the value before it.
  double(*keeps)[16] = (double(*)[16])work, (*gains)[16] = (double(*)[16])(work + 32), *course = work + 72;
  const int way = sostenuto_faster_way(up, down, frames);
  float guess = (float)value;
  course[-1] = value;
  for (long long f = 0; f < frames; f += 16) {
    for (int i = 0; i < 16; i += 8) {
      sostenuto_eight_doubles target = __builtin_convertvector(*(row_of_memory *)(targets + f + i), sostenuto_eight_doubles);
      sostenuto_eight_doubles rise = __builtin_convertvector(*(row_of_memory *)(up + f + i), sostenuto_eight_doubles);
      sostenuto_eight_doubles fall = __builtin_convertvector(*(row_of_memory *)(down + f + i), sostenuto_eight_doubles);
      *(row_of_values *)(keeps[0] + i) = 1 - rise;
      *(row_of_values *)(keeps[1] + i) = 1 - fall;
      *(row_of_values *)(gains[0] + i) = rise * target;
      *(row_of_values *)(gains[1] + i) = fall * target;
    }
    // Kept in memory: a single number is loaded by one instruction, but taken out of a vector by two.
    __asm__("" : "+m"(*(double(*)[64])work));
    const double before = value;
    sostenuto_integers rises = *(const frames_of_memory *)(targets + f) > (sostenuto_frames)guess;
    const int falls = __builtin_reduce_or(rises) == 0;
    guess = (float)before;
    if (way != 0 && (falls || __builtin_reduce_and(rises) != 0)) {
      row_of_signs wrong = 0;
      for (int i = 0; i < 16; i++) course[f + i] = value = keeps[falls][i] * value + gains[falls][i];
      for (int i = 0; i < 16; i += 8) {
        sostenuto_eight_doubles taken = *(row_of_values *)(course + f + i), last = *(row_of_values *)(course + f + i - 1);
        sostenuto_eight_doubles other = *(row_of_values *)(keeps[!falls] + i) * last + *(row_of_values *)(gains[!falls] + i);
        wrong |= way > 0 ? other > taken : other < taken;
      }
      if (__builtin_expect(__builtin_reduce_or(wrong) == 0, 1)) continue;
      value = before;
    }
    if (way > 0) {
      SOSTENUTO_GLIDE(1)
    } else if (way < 0) {
      SOSTENUTO_GLIDE(0)
    } else {
      SOSTENUTO_GLIDE(up[f + i] >= down[f + i])
    }
  }
  // After the loop, since a vector load stalls behind the single stores of its lanes.
  for (long long f = 0; f < frames; f += 8)
    *(row_of_memory *)(targets + f) = __builtin_convertvector(*(row_of_values *)(course + f), sostenuto_eight);
  return course[frames - 1];
}

/* The same of two channels side by side. */
#define SOSTENUTO_GLIDE_ROWS(larger)                                                                   \
  for (long long f = 0; f < frames; f++) {                                                             \
    sostenuto_two_doubles target = {one[f], other[f]};                                                 \
    sostenuto_two_doubles rises = (1 - (double)up[f]) * now + (double)up[f] * target;                  \
    sostenuto_two_doubles falls = (1 - (double)down[f]) * now + (double)down[f] * target;              \
    now = (larger) ? (rises > falls ? rises : falls) : (rises < falls ? rises : falls);                \
    one[f] = (float)now.x;                                                                             \
    other[f] = (float)now.y;                                                                           \
  }
SOSTENUTO_VECTOR void sostenuto_glide_two(float *one, float *other, double *values, const float *up, const float *down,
                                          long long frames) {
  sostenuto_two_doubles now = {values[0], values[1]};
  int way = sostenuto_faster_way(up, down, frames);
  if (way > 0) {
    SOSTENUTO_GLIDE_ROWS(1)
  } else if (way < 0) {
    SOSTENUTO_GLIDE_ROWS(0)
  } else {
    SOSTENUTO_GLIDE_ROWS(up[f] >= down[f])
  }
  values[0] = now.x;
  values[1] = now.y;
}

/* The same of eight channels, whose targets in a frame follow each other. */
SOSTENUTO_VECTOR void sostenuto_glide_eight(float *targets, double *values, const float *up, const float *down,
                                            long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double row_of_values __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_eight_doubles now = *(row_of_values *)values;
  for (long long f = 0; f < frames; f++) {
    sostenuto_eight_doubles way = __builtin_convertvector(*(row_of_memory *)(targets + 8 * f), sostenuto_eight_doubles) - now;
    now += way * (way > 0.0 ? (sostenuto_eight_doubles)(double)up[f] : (sostenuto_eight_doubles)(double)down[f]);
    *(row_of_memory *)(targets + 8 * f) = __builtin_convertvector(now, sostenuto_eight);
  }
  *(row_of_values *)values = now;
}
