#pragma once
#include <stddef.h>

// Work inside a signal handler: putting the terminal back, and noting signals for the main
// loop. In C, because a handler must not meet lazily made globals, retain counts or allocation.

// Notes the terminal's present settings and installs the handlers:
// - SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS restore the terminal and go on to
//   whatever handled them before;
// - SIGTERM, SIGINT, SIGHUP, SIGQUIT are noted; two seconds later, or at a second one, the terminal
//   is restored and the process ends by that signal;
// - SIGWINCH, SIGTSTP, SIGCONT are noted.
// Returns 0, or errno.
int cterminal_install(int input, int output);

// Takes the handlers away, after restoring the terminal.
void cterminal_remove(void);

// The bytes that restore the terminal, at most CTERMINAL_BYTES; the rest is cut.
#define CTERMINAL_BYTES 512
void cterminal_set_bytes(const void *bytes, size_t count);

// Not 0 while there is something to restore. While 0, cterminal_restore does nothing.
void cterminal_set_active(int active);

// Writes the bytes and sets the terminal's first settings, once per activation. Async-signal-safe.
void cterminal_restore(void);

// Restores the terminal and ends the process by the signal's default action, so that the parent sees
// how it ended. Async-signal-safe.
_Noreturn void cterminal_die(int signal_number);

// A file in memory without a name, or -1.
int cterminal_memory_file(void);

// Readable when a signal has been noted; -1 before installing.
int cterminal_wake_descriptor(void);

// The signals noted since the last call, as bits 1 << signal; drains the descriptor.
unsigned long long cterminal_take_signals(void);

// The program has heard a terminating signal and will end by itself in its own time.
void cterminal_cancel_deadline(void);

// Stops the process group as ctrl-z does; returns when continued.
void cterminal_stop(void);
