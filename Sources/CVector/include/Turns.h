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

/* Sines that move their own phases, by the mean of their last two values. The mean keeps a strong feedback from hunting between
   two values (N. Tomisawa, "Tone production method for an electronic musical instrument", 1981).

   Each frame waits for the one before it, so the latency of one frame is the cost: a chain of three products and two sums with one.
   The sine of `x` half turns is a product of polynomials that are ready side by side, and the next phase is one more product and a
   sum. Where the whole number of half turns is in that sum, it may be roughly right: it is found beside the sine from a straight
   line instead of it, so that what is left goes up to 0.626 half turns, and the polynomial as far as 0.63, to 5e-10. Double
   precision needs no integers, and loses nothing close to a whole turn. */

/* The sine is x * (x^2 - FIRST) * ((x^2 - SECOND)^2 + BESIDE_SECOND) * ((x^2 - THIRD)^2 + BESIDE_THIRD) * FACTOR: the polynomial that is
   right in the Chebyshev nodes, by its zeros. */
#define SOSTENUTO_SINE_FIRST 0.9999353936474118
#define SOSTENUTO_SINE_SECOND 3.4296233482778824
#define SOSTENUTO_SINE_BESIDE_SECOND 1.220034547775899
#define SOSTENUTO_SINE_THIRD 2.0629965953871987
#define SOSTENUTO_SINE_BESIDE_THIRD 31.15490258612359
#define SOSTENUTO_SINE_FACTOR -0.006834207259606573

/* The line that is nearest to the sine up to 0.626 half turns, and how many turns of feedback it is good for: those that the knob has.
   A cubic is good for twice as many, and beyond them nothing but the sine itself. */
#define SOSTENUTO_SINE_LINE 1.87
#define SOSTENUTO_NARROW 0.505f
#define SOSTENUTO_WIDE 1.0f

/* `one * other * SOSTENUTO_SINE_FACTOR` is the sine of `x` half turns, which is `left` or its opposite. */
#define SOSTENUTO_BACK(WIDTH)                                                                                                   \
  typedef double sostenuto_back_doubles_##WIDTH __attribute__((ext_vector_type(WIDTH)));                                        \
  typedef long long sostenuto_back_bits_##WIDTH __attribute__((ext_vector_type(WIDTH)));                                        \
  typedef struct {                                                                                                              \
    sostenuto_back_doubles_##WIDTH one, other;                                                                                  \
  } sostenuto_back_##WIDTH;                                                                                                     \
  SOSTENUTO_VECTOR sostenuto_back_##WIDTH sostenuto_back_of_##WIDTH(sostenuto_back_doubles_##WIDTH left,                        \
                                                                    sostenuto_back_doubles_##WIDTH x) {                         \
    sostenuto_back_doubles_##WIDTH first = left * left - SOSTENUTO_SINE_FIRST, second = left * left - SOSTENUTO_SINE_SECOND;    \
    sostenuto_back_doubles_##WIDTH third = left * left - SOSTENUTO_SINE_THIRD;                                                  \
    sostenuto_back_##WIDTH back;                                                                                                \
    back.one = (x * first) * (second * second + SOSTENUTO_SINE_BESIDE_SECOND);                                                  \
    back.other = third * third + SOSTENUTO_SINE_BESIDE_THIRD;                                                                   \
    return back;                                                                                                                \
  }                                                                                                                             \
  SOSTENUTO_VECTOR sostenuto_back_doubles_##WIDTH sostenuto_back_sine_##WIDTH(sostenuto_back_##WIDTH back) {                    \
    return (back.one * back.other) * SOSTENUTO_SINE_FACTOR;                                                                     \
  }                                                                                                                             \
  /* The next `left`, from `rest`, which is its phase and what the value before the last one adds. `other` is that of the last  \
     one times the feedback. Adding 1.5 * 2^52 rounds to the nearest whole number, whose lowest bit says whether the sine is    \
     negative: `odd`. A feedback of more turns than the line is good for waits longer; `grade` says whether there is one. */     \
  SOSTENUTO_VECTOR sostenuto_back_doubles_##WIDTH sostenuto_turned_back_##WIDTH(                                                \
      sostenuto_back_doubles_##WIDTH left, sostenuto_back_doubles_##WIDTH x, sostenuto_back_doubles_##WIDTH one,                \
      sostenuto_back_doubles_##WIDTH other, sostenuto_back_doubles_##WIDTH rest, sostenuto_back_doubles_##WIDTH feedback,       \
      int grade, sostenuto_back_bits_##WIDTH *odd) {                                                                            \
    sostenuto_back_doubles_##WIDTH turns = __builtin_elementwise_abs(feedback), line = feedback * SOSTENUTO_SINE_LINE;          \
    if (grade > 0) {                                                                                                            \
      sostenuto_back_doubles_##WIDTH bend = turns > SOSTENUTO_NARROW ? feedback * -4.42046 : 0.0;                               \
      line = (turns > SOSTENUTO_NARROW ? feedback * 3.09613 : line) + left * left * bend;                                       \
    }                                                                                                                           \
    sostenuto_back_doubles_##WIDTH near = x * line + rest;                                                                      \
    if (grade > 1) near = turns > SOSTENUTO_WIDE ? one * other + rest : near;                                                   \
    sostenuto_back_doubles_##WIDTH shifted = near + 6755399441055744.0;                                                         \
    *odd = (sostenuto_back_bits_##WIDTH)shifted << 63;                                                                          \
    return one * other + (rest - SOSTENUTO_NEAREST(near, shifted));                                                             \
  }                                                                                                                             \
  SOSTENUTO_VECTOR sostenuto_back_doubles_##WIDTH sostenuto_back_signed_##WIDTH(sostenuto_back_doubles_##WIDTH v,               \
                                                                                sostenuto_back_bits_##WIDTH odd) {              \
    return (sostenuto_back_doubles_##WIDTH)((sostenuto_back_bits_##WIDTH)v ^ odd);                                              \
  }
#if defined __SSE4_1__ || defined __aarch64__
#define SOSTENUTO_NEAREST(v, shifted) __builtin_elementwise_rint(v)
#else
#define SOSTENUTO_NEAREST(v, shifted) ((shifted) - 6755399441055744.0)
#endif
SOSTENUTO_BACK(2)
SOSTENUTO_BACK(8)

/* 0: the line is good for every feedback; 1: the cubic is; 2: neither. */
SOSTENUTO_VECTOR int sostenuto_feedback_grade(const float *feedback, long long count) {
  _Bool isNarrow = 1, isWide = 0;
  for (long long i = 0; i < count; i++) isNarrow &= __builtin_fabsf(feedback[i]) <= SOSTENUTO_NARROW;
  if (isNarrow) return 0;
  for (long long i = 0; i < count; i++) isWide |= __builtin_fabsf(feedback[i]) > SOSTENUTO_WIDE;
  return isWide ? 2 : 1;
}
/* Each grade has a loop of its own. */
#define SOSTENUTO_BY_GRADE(grade, function, ...) \
  {                                              \
    int known = grade;                           \
    if (known == 0) {                            \
      function(__VA_ARGS__, 0);                  \
    } else if (known == 1) {                     \
      function(__VA_ARGS__, 1);                  \
    } else {                                     \
      function(__VA_ARGS__, 2);                  \
    }                                            \
  }

/* Eight of them. `phases`: eight for each frame, which become the sines; `feedback`: turns for each frame and lane. `states`: the
   last two `x`, the newest first, each with its own feedback in it. */
SOSTENUTO_VECTOR void sostenuto_turn_back_eight_as(float *phases, const float *feedback, double *states, long long count,
                                                   int grade) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double states_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_back_doubles_8 x = *(states_of_memory *)states, left = x, before = *(states_of_memory *)(states + 8);
  sostenuto_back_8 older = sostenuto_back_of_8(before, before), back = sostenuto_back_of_8(left, x);
  for (long long frame = 0; frame < count; frame++) {
    row_of_memory *row = (row_of_memory *)(phases + 8 * frame);
    sostenuto_back_doubles_8 phase = __builtin_convertvector((sostenuto_eight_turns)*row, sostenuto_back_doubles_8) * 0x1p-31;
    sostenuto_back_doubles_8 fed = __builtin_convertvector(*(const row_of_memory *)(feedback + 8 * frame), sostenuto_back_doubles_8);
    sostenuto_back_doubles_8 factor = fed * SOSTENUTO_SINE_FACTOR, rest = older.one * (factor * older.other) + phase;
    sostenuto_back_bits_8 odd;
    left = sostenuto_turned_back_8(left, x, back.one, factor * back.other, rest, fed, grade, &odd);
    before = x;
    x = sostenuto_back_signed_8(left, odd);
    older = back;
    back = sostenuto_back_of_8(left, x);
    *row = __builtin_convertvector(sostenuto_back_sine_8(back), sostenuto_eight);
  }
  *(states_of_memory *)states = x;
  *(states_of_memory *)(states + 8) = before;
}
SOSTENUTO_VECTOR void sostenuto_turn_back_eight(float *phases, const float *feedback, double *states, long long count) {
  SOSTENUTO_BY_GRADE(sostenuto_feedback_grade(feedback, 8 * count), sostenuto_turn_back_eight_as, phases, feedback, states, count)
}

/* Numbers of two rows, side by side in each frame; eight frames at once. */
SOSTENUTO_VECTOR void sostenuto_pair_rows(sostenuto_back_doubles_8 one, sostenuto_back_doubles_8 two, double *to) {
  typedef double eight_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  *(eight_of_memory *)to = __builtin_shufflevector(one, two, 0, 8, 1, 9, 2, 10, 3, 11);
  *(eight_of_memory *)(to + 8) = __builtin_shufflevector(one, two, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* The sines of pairs, each in a row of its own. */
SOSTENUTO_VECTOR void sostenuto_unpair_sines(const double *pairs, float *one, float *two) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double eight_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_back_doubles_8 low = *(const eight_of_memory *)pairs, high = *(const eight_of_memory *)(pairs + 8);
  sostenuto_back_doubles_8 x = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
  if (two != one) *(row_of_memory *)two = __builtin_convertvector(sostenuto_back_sine_8(sostenuto_back_of_8(x, x)), sostenuto_eight);
  x = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  *(row_of_memory *)one = __builtin_convertvector(sostenuto_back_sine_8(sostenuto_back_of_8(x, x)), sostenuto_eight);
}

/* Two of them, to the same bits, each in a row of its own; of one alone where the rows of both are the same. `memory`: room for 256
   numbers. The feedback: a row for each, or of each its first number if it `rests`. What eight frames need before and after their
   turns stands between these, for the processor to do while it waits for them; the sines are those of the eight before, which have
   reached memory by then. */
SOSTENUTO_VECTOR void sostenuto_turn_back_two_as(float *one, float *two, const float *fed_one, const float *fed_two, _Bool rests,
                                                 double *states, double *memory, long long count, int grade) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double pair_of_memory __attribute__((ext_vector_type(2), aligned(8)));
  sostenuto_back_doubles_2 x = *(pair_of_memory *)states, left = x, before = *(pair_of_memory *)(states + 8);
  sostenuto_back_doubles_2 fed = {*fed_one, *fed_two}, factor = fed * SOSTENUTO_SINE_FACTOR;
  sostenuto_back_2 older = sostenuto_back_of_2(before, before);
  // A feedback that rests is in it already.
  if (rests) older.other = factor * older.other;
  for (long long start = 0; start < count; start += 8) {
    double *work = memory + 2 * start;
    sostenuto_eight_turns first = (sostenuto_eight_turns) * (row_of_memory *)(one + start);
    sostenuto_eight_turns second = (sostenuto_eight_turns) * (row_of_memory *)(two + start);
    sostenuto_pair_rows(__builtin_convertvector(first, sostenuto_back_doubles_8) * 0x1p-31,
                        __builtin_convertvector(second, sostenuto_back_doubles_8) * 0x1p-31, work);
    if (!rests) {
      sostenuto_pair_rows(__builtin_convertvector(*(const row_of_memory *)(fed_one + start), sostenuto_back_doubles_8),
                          __builtin_convertvector(*(const row_of_memory *)(fed_two + start), sostenuto_back_doubles_8), work + 128);
    }
    long long frames = count - start < 8 ? count - start : 8;
#pragma clang loop unroll_count(4)
    for (long long frame = 0; frame < frames; frame++) {
      if (!rests) {
        fed = *(const pair_of_memory *)(work + 128 + 2 * frame);
        factor = fed * SOSTENUTO_SINE_FACTOR;
      }
      sostenuto_back_doubles_2 rest = older.one * (rests ? older.other : factor * older.other) + *(pair_of_memory *)(work + 2 * frame);
      sostenuto_back_bits_2 odd;
      sostenuto_back_2 back = sostenuto_back_of_2(left, x);
      sostenuto_back_doubles_2 other = factor * back.other;
      left = sostenuto_turned_back_2(left, x, back.one, other, rest, fed, grade, &odd);
      before = x;
      x = sostenuto_back_signed_2(left, odd);
      older.one = back.one;
      older.other = rests ? other : back.other;
      *(pair_of_memory *)(work + 2 * frame) = x;
    }
    if (start >= 8) sostenuto_unpair_sines(work - 16, one + start - 8, two + start - 8);
  }
  const long long last = (count - 1) & -8;
  sostenuto_unpair_sines(memory + 2 * last, one + last, two + last);
  *(pair_of_memory *)states = x;
  *(pair_of_memory *)(states + 8) = before;
}
SOSTENUTO_VECTOR void sostenuto_turn_back_two(float *one, float *two, const float *fed_one, const float *fed_two, _Bool rests,
                                              double *states, double *memory, long long count) {
  int first = sostenuto_feedback_grade(fed_one, rests ? 1 : count), second = sostenuto_feedback_grade(fed_two, rests ? 1 : count);
  int grade = first > second ? first : second;
  if (rests) {
    SOSTENUTO_BY_GRADE(grade, sostenuto_turn_back_two_as, one, two, fed_one, fed_two, 1, states, memory, count)
  } else {
    SOSTENUTO_BY_GRADE(grade, sostenuto_turn_back_two_as, one, two, fed_one, fed_two, 0, states, memory, count)
  }
}

/* `a` where a number is zero, else `b`. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_where_zero(sostenuto_frames v, sostenuto_frames a, sostenuto_frames b) {
  sostenuto_integers mask = v == 0;
  return (sostenuto_frames)(((sostenuto_integers)a & mask) | ((sostenuto_integers)b & ~mask));
}
