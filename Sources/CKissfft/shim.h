#pragma once
// Debian's library has the scalars of its name; other builds of the same source have others.
#define kiss_fft_scalar float
#include <kissfft/kiss_fftr.h>
