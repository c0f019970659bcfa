#pragma once
#include "CKind.h"

/* A kind in C for tests: multiplies by the ramped parameter 0, and delays by the parameter 1 in frames, which is its
   latency. Parameter 2: preparation fails if it is 1. Reading 0 and the saved state: the frames that it has rendered. */
sostenuto_kind sostenuto_test_kind(void);

/* Instances that have not been freed. */
int sostenuto_test_instances(void);
