#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Taps of delay lines that move. */

/* Eight times in seconds as delays in frames, within limits; what is no number becomes the least. */
SOSTENUTO_VECTOR void sostenuto_write_delays(const float *times, double rate, double least, double most, double *delays) {
  typedef float times_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double delays_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  typedef double doubles __attribute__((ext_vector_type(8)));
  doubles v = __builtin_convertvector(*(const times_of_memory *)times, doubles) * rate;
  v = v > (doubles)least ? v : (doubles)least;
  *(delays_of_memory *)delays = v < (doubles)most ? v : (doubles)most;
}

/* Sixteen frames of a ring of `mask` + 1 frames, of which the first sixteen follow once more: eight neighbours of each, from the place
   `first` on, times their weights. Each product and sum is rounded. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_even_taps(const float *ring, long long first, long long mask, const float *weights) {
#pragma clang fp contract(off)
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const long long place = first & mask;
  sostenuto_frames products[8];
  if (place <= mask - 6) {
    /* The eight loads share one address register. */
    const float *at = ring + place;
#pragma clang loop unroll(full)
    for (int n = 0; n < 8; n++) products[n] = *(const frames_of_memory *)(at + n) * weights[n];
  } else {
#pragma clang loop unroll(full)
    for (int n = 0; n < 8; n++) products[n] = *(const frames_of_memory *)(ring + ((first + n) & mask)) * weights[n];
  }
  return ((products[0] + products[4]) + (products[1] + products[5])) + ((products[2] + products[6]) + (products[3] + products[7]));
}

/* The feedback of a string: a frame, the one before and the one before that, of which `a` is the share of the outer ones. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_string_loop(sostenuto_frames now, sostenuto_frames before, sostenuto_frames first,
                                                        sostenuto_frames a) {
  sostenuto_frames outer = (now + first) * a;
  return before * (1 - 2 * a) + outer;
}

/* Sixteen frames of a delay line whose delays are nearly alike: eight neighbours of each place, times the weights of
   `Interpolator`, which these polynomials are, and added up in the order of `sostenuto_sum_rows`. `low` and `high`: the 32 frames
   from the fourth one before `least` on, which is the least place. False: some place is too far from it. */
SOSTENUTO_VECTOR _Bool sostenuto_near_taps(const float *low, const float *high, const int *wholes, const float *parts, int least,
                                           float *sums) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int wholes_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_integers numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const float a[6][8] = {
      {0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f},
      {-0.0076500069f, 0.020073615f, -0.21060821f, 0.95320195f, -0.13734556f, -0.74623969f, 0.065693448f, 0.062874452f},
      {0.34370591f, -0.46418845f, 0.28551988f, -0.36596339f, -0.097320845f, -0.41147721f, 1.6530844f, -0.94336027f},
      {-1.6770802f, 3.1879818f, -2.9893463f, 4.7319754f, -5.4371197f, 5.1549568f, -5.7373078f, 2.76594f},
      {2.4165171f, -4.9979993f, 5.2183262f, -7.3162139f, 7.6687861f, -6.3011314f, 6.2726623f, -2.960947f},
      {-1.0754928f, 2.2541323f, -2.3038915f, 2.997f, -2.997f, 2.3038915f, -2.2541323f, 1.0754928f}};
  sostenuto_bits places = (sostenuto_bits)(numbers - least - *(const wholes_of_memory *)wholes);
  if (__builtin_reduce_or((sostenuto_integers)(places > 24)) != 0) return 0;
  sostenuto_frames first = *(const frames_of_memory *)low, second = *(const frames_of_memory *)high;
  sostenuto_frames d = *(const frames_of_memory *)parts, products[8];
#pragma clang loop unroll(full)
  for (int n = 0; n < 8; n++) {
    sostenuto_frames w = sostenuto_add_product((sostenuto_frames)a[4][n], d, (sostenuto_frames)a[5][n]);
#pragma clang loop unroll(full)
    for (int power = 3; power >= 0; power--) w = sostenuto_add_product((sostenuto_frames)a[power][n], w, d);
    products[n] = sostenuto_pick_of_two(first, second, places + (unsigned)n) * w;
  }
  {
#pragma clang fp contract(off)
    sostenuto_frames even = (products[0] + products[4]) + (products[1] + products[5]);
    *(frames_of_memory *)sums = even + ((products[2] + products[6]) + (products[3] + products[7]));
  }
  return 1;
}
