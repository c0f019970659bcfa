#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Resonators: sixteen lanes each turn a pair of numbers by their angle and shrink it, frame by frame. A bank of sixteen has nine
   vectors in memory: both numbers, cosine and sine of the turn (times what remains), by how much these change with each frame, the
   weight of what goes in, and where cosine and sine go. */
enum { sostenuto_ringing_size = 144 };

/* Runs two banks side by side, so that one works while the other waits for its numbers. What goes in has one number a frame; rows
   of sixteen get the sums of both banks, of lanes that have a share in `shares`. */
SOSTENUTO_VECTOR void sostenuto_ring_two(float *banks, const float *sound, const float *shares, float *rows, _Bool is_moving,
                                         _Bool adds, long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  row_of_memory *a = (row_of_memory *)banks, *b = (row_of_memory *)(banks + sostenuto_ringing_size);
  sostenuto_frames re = a[0], im = a[1], c = a[2], s = a[3], w = a[6];
  sostenuto_frames re2 = b[0], im2 = b[1], c2 = b[2], s2 = b[3], w2 = b[6];
  sostenuto_frames share = *(const row_of_memory *)shares, share2 = *(const row_of_memory *)(shares + 16);
  for (long long frame = 0; frame < count; frame++) {
    sostenuto_frames x = sound[frame];
    sostenuto_frames turned = c * re + (w * x - s * im), turned2 = c2 * re2 + (w2 * x - s2 * im2);
    im = s * re + c * im;
    im2 = s2 * re2 + c2 * im2;
    re = turned;
    re2 = turned2;
    sostenuto_frames sum = im * share + im2 * share2;
    row_of_memory *row = (row_of_memory *)(rows + 16 * frame);
    *row = adds ? *row + sum : sum;
    if (is_moving) {
      c += a[4];
      s += a[5];
      c2 += b[4];
      s2 += b[5];
    }
  }
  a[0] = re;
  a[1] = im;
  b[0] = re2;
  b[1] = im2;
  if (is_moving) {
    a[2] = c;
    a[3] = s;
    b[2] = c2;
    b[3] = s2;
  }
}

/* The sum of each of sixteen rows of sixteen: halves are folded together four times. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_sum_sixteens(const float *rows) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames eights[8];
  for (int i = 0; i < 8; i++) eights[i] = sostenuto_fold(*(const row_of_memory *)(rows + 32 * i), *(const row_of_memory *)(rows + 32 * i + 16));
  return sostenuto_sum_rows((const float *)eights);
}
