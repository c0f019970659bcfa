#pragma once
#include <jack/jack.h>
#include <jack/midiport.h>
#include <jack/metadata.h>
#include <jack/session.h>
#include <jack/thread.h>
#include <jack/uuid.h>

/* jack_client_open is variadic, which Swift cannot call. */
static inline jack_client_t *sostenuto_jack_client_open(
    const char *name, jack_options_t options, jack_status_t *status, const char *server) {
  return server ? jack_client_open(name, (jack_options_t)(options | JackServerName), status, server)
                : jack_client_open(name, options, status);
}
