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

   Each frame waits for the one before it, so the latency of one frame is the cost. The sine is a polynomial in two halves,
   y = x * low + x * t * high. The next phase is calculated from these halves, times the feedback, without waiting for y. The whole
   number of half turns in it is calculated beside that from a cubic approximation of the sine; since that is not exact, the rest
   may be a little more than a quarter turn. Double precision needs no integers, and loses nothing close to a whole turn. */

/* `left` in half turns, between -0.51 and 0.51, and `odd`, which turns the sign of the sine. The polynomial is that of
   `Corners.sine`, in half turns instead of quarters. */
#define SOSTENUTO_BACK(WIDTH)                                                                                                   \
  typedef double sostenuto_back_doubles_##WIDTH __attribute__((ext_vector_type(WIDTH)));                                        \
  typedef long long sostenuto_back_bits_##WIDTH __attribute__((ext_vector_type(WIDTH)));                                        \
  typedef struct {                                                                                                              \
    sostenuto_back_doubles_##WIDTH left, s, t, low, high, x, y;                                                                 \
    sostenuto_back_bits_##WIDTH odd;                                                                                            \
  } sostenuto_back_##WIDTH;                                                                                                     \
  SOSTENUTO_VECTOR sostenuto_back_doubles_##WIDTH sostenuto_back_signed_##WIDTH(sostenuto_back_doubles_##WIDTH v,               \
                                                                                sostenuto_back_bits_##WIDTH odd) {              \
    return (sostenuto_back_doubles_##WIDTH)((sostenuto_back_bits_##WIDTH)v ^ odd);                                              \
  }                                                                                                                             \
  SOSTENUTO_VECTOR sostenuto_back_##WIDTH sostenuto_back_of_##WIDTH(sostenuto_back_doubles_##WIDTH left,                        \
                                                                    sostenuto_back_bits_##WIDTH odd) {                          \
    sostenuto_back_##WIDTH back;                                                                                                \
    back.left = left;                                                                                                           \
    back.odd = odd;                                                                                                             \
    back.s = left * left;                                                                                                       \
    back.t = back.s * back.s;                                                                                                   \
    back.low = back.s * (8.0 * -0.6459637f) + 2.0 * 1.5707964f;                                                                 \
    back.high = back.t * (512.0 * 1.5148513e-4f) + (back.s * (128.0 * -4.6737664e-3f) + 32.0 * 7.968968e-2f);                   \
    back.x = sostenuto_back_signed_##WIDTH(left, odd);                                                                          \
    back.y = back.x * (back.t * back.high + back.low);                                                                             \
    return back;                                                                                                                \
  }                                                                                                                             \
  /* The next one. Beside it `phase` is a number of 32 bits, and `older` the value before. Adding 1.5 * 2^52 rounds to the      \
     nearest whole number, whose lowest bit says whether the sine is negative. Where the feedback is more than a turn, it       \
     makes too much of what the cubic is off: `isWide` says that it may be. */                                                  \
  SOSTENUTO_VECTOR sostenuto_back_##WIDTH sostenuto_turned_back_##WIDTH(                                                        \
      sostenuto_back_##WIDTH back, sostenuto_back_doubles_##WIDTH older, sostenuto_back_doubles_##WIDTH phase,                  \
      sostenuto_back_doubles_##WIDTH feedback, _Bool isWide) {                                                                  \
    sostenuto_back_doubles_##WIDTH rest = phase * 0x1p-31 + older * feedback;                                                   \
    sostenuto_back_doubles_##WIDTH fed = sostenuto_back_signed_##WIDTH(feedback, back.odd) * back.left;                         \
    sostenuto_back_doubles_##WIDTH near = fed * (back.s * -4.42046 + 3.09613) + rest;                                           \
    sostenuto_back_doubles_##WIDTH v = (fed * back.t) * back.high + (fed * back.low + rest);                                    \
    if (isWide) near = __builtin_elementwise_abs(feedback) > 1.0 ? v : near;                                                    \
    sostenuto_back_doubles_##WIDTH shifted = near + 6755399441055744.0;                                                         \
    return sostenuto_back_of_##WIDTH(v - SOSTENUTO_NEAREST(near, shifted), (sostenuto_back_bits_##WIDTH)shifted << 63);         \
  }
#if defined __SSE4_1__ || defined __aarch64__
#define SOSTENUTO_NEAREST(v, shifted) __builtin_elementwise_rint(v)
#else
#define SOSTENUTO_NEAREST(v, shifted) ((shifted) - 6755399441055744.0)
#endif
SOSTENUTO_BACK(2)
SOSTENUTO_BACK(8)

/* A feedback of more than a turn. */
SOSTENUTO_VECTOR _Bool sostenuto_is_wide(const float *feedback, long long count) {
  _Bool is = 0;
  for (long long i = 0; i < count; i++) is |= __builtin_fabsf(feedback[i]) > 1.0f;
  return is;
}

/* Eight of them. `phases`: eight for each frame, which become the sines; `feedback`: turns for each frame and lane. `states`: the
   last two `x`, the newest first, each with its own feedback in it. */
SOSTENUTO_VECTOR void sostenuto_turn_back_eight_as(float *phases, const float *feedback, double *states, long long count,
                                                   _Bool isWide) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double states_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_back_doubles_8 before = *(states_of_memory *)(states + 8);
  sostenuto_back_doubles_8 older = sostenuto_back_of_8(before, 0).y;
  sostenuto_back_8 back = sostenuto_back_of_8(*(states_of_memory *)states, 0);
  for (long long frame = 0; frame < count; frame++) {
    row_of_memory *row = (row_of_memory *)(phases + 8 * frame);
    sostenuto_back_doubles_8 phase = __builtin_convertvector((sostenuto_eight_turns)*row, sostenuto_back_doubles_8);
    sostenuto_back_doubles_8 fed = __builtin_convertvector(*(const row_of_memory *)(feedback + 8 * frame), sostenuto_back_doubles_8);
    // Eight keep the processor busy: a number more to hold costs more than a frame waits for a sign.
    sostenuto_back_8 next = sostenuto_turned_back_8(back, older, phase, fed, isWide);
    before = back.x;
    older = back.y;
    back = sostenuto_back_of_8(next.x, 0);
    *row = __builtin_convertvector(back.y, sostenuto_eight);
  }
  *(states_of_memory *)states = back.x;
  *(states_of_memory *)(states + 8) = before;
}
SOSTENUTO_VECTOR void sostenuto_turn_back_eight(float *phases, const float *feedback, double *states, long long count) {
  if (sostenuto_is_wide(feedback, 8 * count)) {
    sostenuto_turn_back_eight_as(phases, feedback, states, count, 1);
  } else {
    sostenuto_turn_back_eight_as(phases, feedback, states, count, 0);
  }
}

/* The same of two, to the same bits, each in a row of its own; of one alone where the rows of both are the same. */
SOSTENUTO_VECTOR void sostenuto_turn_back_two_as(float *one, float *two, const float *fed_one, const float *fed_two, double *states,
                                                 long long count, _Bool isWide) {
  typedef double states_of_memory __attribute__((ext_vector_type(2), aligned(8)));
  typedef int pair_of_turns __attribute__((ext_vector_type(2)));
  sostenuto_back_doubles_2 before = *(states_of_memory *)(states + 8);
  sostenuto_back_doubles_2 older = sostenuto_back_of_2(before, 0).y;
  sostenuto_back_2 back = sostenuto_back_of_2(*(states_of_memory *)states, 0);
  for (long long frame = 0; frame < count; frame++) {
    sostenuto_pair turns = {one[frame], two[frame]}, feedback = {fed_one[frame], fed_two[frame]};
    sostenuto_back_doubles_2 phase = __builtin_convertvector((pair_of_turns)turns, sostenuto_back_doubles_2);
    sostenuto_back_2 next =
        sostenuto_turned_back_2(back, older, phase, __builtin_convertvector(feedback, sostenuto_back_doubles_2), isWide);
    before = back.x;
    older = back.y;
    back = next;
    sostenuto_pair sines = __builtin_convertvector(back.y, sostenuto_pair);
    two[frame] = sines[1];
    one[frame] = sines[0];
  }
  *(states_of_memory *)states = back.x;
  *(states_of_memory *)(states + 8) = before;
}
SOSTENUTO_VECTOR void sostenuto_turn_back_two(float *one, float *two, const float *fed_one, const float *fed_two, double *states,
                                              long long count) {
  if (sostenuto_is_wide(fed_one, count) || sostenuto_is_wide(fed_two, count)) {
    sostenuto_turn_back_two_as(one, two, fed_one, fed_two, states, count, 1);
  } else {
    sostenuto_turn_back_two_as(one, two, fed_one, fed_two, states, count, 0);
  }
}

/* `a` where a number is zero, else `b`. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_where_zero(sostenuto_frames v, sostenuto_frames a, sostenuto_frames b) {
  sostenuto_integers mask = v == 0;
  return (sostenuto_frames)(((sostenuto_integers)a & mask) | ((sostenuto_integers)b & ~mask));
}
