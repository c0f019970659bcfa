#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* The flow of E. N. Lorenz with sigma 10 and beta 8/3, by the classical method of Runge and Kutta, on several channels at once.

   Each of the four steps waits for the one before, so what counts is how long a number takes through it. The points of the method
   are a + c f(p): from p to the next one it is a difference, a product and a sum, beside which the rest is calculated. The last step
   ends the sum of all, (p2 + 2 p3 + p4 - p1) / 3 + h / 6 f(p4), in which p4 has a share of its own. Products and sums one by one, so
   that every processor goes the same course.

   `sostenuto_flow_frames` writes frames of all channels, which follow each other in `to`: x over 21. `places`: x, y and z, eight of
   each; what has left the attractor begins anew. `turns` of a frame, and `chaos` (0...1), of all channels: for each frame, or
   for all of them with a `stride` of 0. A turn takes about 0.75 of the flow's time. The method takes 0.03 in a step. */
#define SOSTENUTO_FLOW(WIDTH)                                                                                                        \
  typedef double sostenuto_flow_doubles_##WIDTH __attribute__((ext_vector_type(WIDTH)));                                             \
  typedef struct {                                                                                                                   \
    sostenuto_flow_doubles_##WIDTH x, y, z;                                                                                          \
  } sostenuto_flow_##WIDTH;                                                                                                          \
  /* a + own p + c f(p). */                                                                                                          \
  SOSTENUTO_VECTOR sostenuto_flow_##WIDTH sostenuto_flow_point_##WIDTH(sostenuto_flow_##WIDTH a, sostenuto_flow_##WIDTH p, double own,\
                                                           sostenuto_flow_doubles_##WIDTH c, sostenuto_flow_doubles_##WIDTH rho) {   \
    _Pragma("clang fp contract(off)")                                                                                                \
    sostenuto_flow_doubles_##WIDTH ten = 10.0 * c, more = p.x * c;                                                                   \
    sostenuto_flow_##WIDTH next;                                                                                                     \
    next.x = (a.x + p.x * (own - ten)) + p.y * ten;                                                                                  \
    next.y = (a.y + p.y * (own - c)) + more * (rho - p.z);                                                                           \
    next.z = (a.z + p.z * (own - (8.0 / 3) * c)) + more * p.y;                                                                       \
    return next;                                                                                                                     \
  }                                                                                                                                  \
  SOSTENUTO_VECTOR sostenuto_flow_##WIDTH sostenuto_flow_step_##WIDTH(sostenuto_flow_##WIDTH a, sostenuto_flow_doubles_##WIDTH time, \
                                                          sostenuto_flow_doubles_##WIDTH rho) {                                      \
    _Pragma("clang fp contract(off)")                                                                                                \
    const double third = 1.0 / 3;                                                                                                    \
    sostenuto_flow_doubles_##WIDTH half = 0.5 * time;                                                                                \
    sostenuto_flow_##WIDTH b = sostenuto_flow_point_##WIDTH(a, a, 0, half, rho), c = sostenuto_flow_point_##WIDTH(a, b, 0, half, rho), sum;\
    sum.x = ((b.x + 2.0 * c.x) - a.x) * third;                                                                                       \
    sum.y = ((b.y + 2.0 * c.y) - a.y) * third;                                                                                       \
    sum.z = ((b.z + 2.0 * c.z) - a.z) * third;                                                                                       \
    return sostenuto_flow_point_##WIDTH(sum, sostenuto_flow_point_##WIDTH(a, c, 0, time, rho), third, (1.0 / 6) * time, rho);        \
  }                                                                                                                                  \
  SOSTENUTO_VECTOR void sostenuto_flow_frames_##WIDTH(double *places, const float *turns, const float *chaos, long long stride, float *to,\
                                                long long count) {                                                                   \
    _Pragma("clang fp contract(off)")                                                                                                \
    typedef double places_of_memory __attribute__((ext_vector_type(WIDTH), aligned(8)));                                             \
    typedef float row __attribute__((ext_vector_type(WIDTH)));                                                                       \
    typedef float row_of_memory __attribute__((ext_vector_type(WIDTH), aligned(4)));                                                 \
    sostenuto_flow_##WIDTH p = {*(places_of_memory *)places, *(places_of_memory *)(places + 8), *(places_of_memory *)(places + 16)}; \
    for (long long frame = 0; frame < count; frame++) {                                                                              \
      row turn = *(const row_of_memory *)(turns + stride * frame), share = *(const row_of_memory *)(chaos + stride * frame);         \
      sostenuto_flow_doubles_##WIDTH time = __builtin_convertvector(turn, sostenuto_flow_doubles_##WIDTH) * 0.75;                    \
      sostenuto_flow_doubles_##WIDTH rho = __builtin_convertvector(share, sostenuto_flow_doubles_##WIDTH) * 14.0 + 14.0;             \
      sostenuto_flow_##WIDTH next = sostenuto_flow_step_##WIDTH(p, time, rho);                                                       \
      if (__builtin_expect(__builtin_reduce_max(time) > 0.03, 0)) {                                                                  \
        sostenuto_flow_##WIDTH parts = p;                                                                                            \
        for (int part = 0; part < 5; part++) parts = sostenuto_flow_step_##WIDTH(parts, time * 0.2, rho);                            \
        next.x = time > 0.03 ? parts.x : next.x;                                                                                     \
        next.y = time > 0.03 ? parts.y : next.y;                                                                                     \
        next.z = time > 0.03 ? parts.z : next.z;                                                                                     \
      }                                                                                                                              \
      p = next;                                                                                                                      \
      if (__builtin_expect(!__builtin_reduce_and(__builtin_elementwise_abs(p.x) < 60.0), 0)) {                                       \
        p.y = __builtin_elementwise_abs(p.x) < 60.0 ? p.y : 1.0;                                                                     \
        p.z = __builtin_elementwise_abs(p.x) < 60.0 ? p.z : 20.0;                                                                    \
        p.x = __builtin_elementwise_abs(p.x) < 60.0 ? p.x : 1.0;                                                                     \
      }                                                                                                                              \
      *(row_of_memory *)(to + WIDTH * frame) = __builtin_convertvector(p.x * (1.0 / 21), row);                                       \
    }                                                                                                                                \
    *(places_of_memory *)places = p.x;                                                                                               \
    *(places_of_memory *)(places + 8) = p.y;                                                                                         \
    *(places_of_memory *)(places + 16) = p.z;                                                                                        \
  }
SOSTENUTO_FLOW(2)
SOSTENUTO_FLOW(8)
