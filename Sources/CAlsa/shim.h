#pragma once
#include <alsa/asoundlib.h>

/* ALSA's messages would go to standard error, where the front end's screen is; its handler is
   variadic, which Swift cannot write. What went wrong is known from the calls' results. */
static void sostenuto_alsa_ignore(
    const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}
static inline void sostenuto_alsa_be_quiet(void) {
  snd_lib_error_set_handler(sostenuto_alsa_ignore);
}
