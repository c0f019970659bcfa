#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
static const int noted[] = {SIGWINCH, SIGTSTP, SIGCONT};
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

static int input = -1, output = -1;
static int wake[2] = {-1, -1};
static struct termios first_settings;
static struct sigaction before[65];
static char bytes[CTERMINAL_BYTES];
static atomic_size_t byte_count;
static atomic_int active;
static atomic_ullong pending;
static atomic_int ending_signal;
static char stack[64 * 1024];
static int installed, at_exit_set;
static int errors[2] = {-1, -1}, true_errors = -1;
static atomic_int errors_kept;

// Libraries' messages on standard error would stand in the middle of the screen. While the program shows it, the writes
// go into a pipe, of which the last write that does not fit is lost; they are shown when the terminal is restored.
static void keep_errors(void) {
  struct stat ours, theirs;
  if (fstat(output, &ours) != 0 || fstat(STDERR_FILENO, &theirs) != 0) return;
  if (!S_ISCHR(ours.st_mode) || !S_ISCHR(theirs.st_mode) || ours.st_rdev != theirs.st_rdev) return;
  if (errors[0] < 0 && pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) return;
  if (atomic_exchange(&errors_kept, 1)) return;
  if (true_errors < 0) true_errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (true_errors >= 0) dup2(errors[1], STDERR_FILENO);
}

static void show_errors(void) {
  if (!atomic_exchange(&errors_kept, 0) || true_errors < 0) return;
  dup2(true_errors, STDERR_FILENO);
  char kept[4096];
  ssize_t count;
  while ((count = read(errors[0], kept, sizeof kept)) > 0) {
    ssize_t ignored = write(STDERR_FILENO, kept, (size_t)count);
    (void)ignored;
  }
}

void cterminal_restore(void) {
  if (!atomic_exchange(&active, 0)) return;
  int saved = errno;
  // In the background, writing or setting would stop the process instead.
  sigset_t block, old;
  sigemptyset(&block);
  sigaddset(&block, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &block, &old);
  const char *next = bytes;
  size_t left = atomic_load(&byte_count);
  while (left > 0) {
    // A terminal that takes nothing (its output is stopped) must not hang the way out.
    struct pollfd ready = {.fd = output, .events = POLLOUT};
    if (poll(&ready, 1, 250) <= 0) break;
    ssize_t written = write(output, next, left);
    if (written < 0 && errno != EINTR && errno != EAGAIN) break;
    if (written > 0) {
      next += written;
      left -= (size_t)written;
    }
  }
  tcsetattr(input, TCSANOW, &first_settings);
  show_errors();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = saved;
}

void cterminal_die(int signal_number) {
  cterminal_restore();
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(signal_number, &standard, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  raise(signal_number);
  _exit(128 + signal_number);
}

static void on_fatal(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  cterminal_restore();
  sigaction(signal_number, &before[signal_number], NULL);
  // A faulting instruction runs again and meets the handler from before; a sent signal is sent again.
  if (info->si_code <= 0 || signal_number == SIGABRT) raise(signal_number);
}

static void note(int signal_number) {
  int saved = errno;
  atomic_fetch_or(&pending, 1ull << signal_number);
  // A full pipe is readable already.
  ssize_t ignored = write(wake[1], "", 1);
  (void)ignored;
  errno = saved;
}

static void on_ending(int signal_number) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&ending_signal, &none, signal_number)) cterminal_die(signal_number);
  note(signal_number);
  // The program may wait for ever; with the poll of the restoring that is less than a second.
  struct itimerval limit = {.it_value = {.tv_usec = 650 * 1000}};
  setitimer(ITIMER_REAL, &limit, NULL);
}

static void on_alarm(int signal_number) {
  int ended = atomic_load(&ending_signal);
  cterminal_die(ended ? ended : signal_number);
}

static void install(int signal_number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  // Crashes inside a handler must still come through.
  for (size_t i = 0; i < COUNT(fatal); i++) sigdelset(&action.sa_mask, fatal[i]);
  sigaction(signal_number, &action, &before[signal_number]);
}

int cterminal_install(int from, int to) {
  if (installed) return 0;
  input = from;
  output = to;
  if (tcgetattr(input, &first_settings) != 0) return errno;
  if (wake[0] < 0) {
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
  }
  atomic_store(&pending, 0);
  atomic_store(&ending_signal, 0);
  // A stack of its own for the main thread: an overflow of the usual one is a crash too.
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, present;
  if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE)) sigaltstack(&other, NULL);
  for (size_t i = 0; i < COUNT(fatal); i++) {
    struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(fatal[i], &action, &before[fatal[i]]);
  }
  for (size_t i = 0; i < COUNT(ending); i++) {
    install(ending[i], on_ending);
    // Signals ignored from outside (nohup) stay ignored.
    if (before[ending[i]].sa_handler == SIG_IGN) sigaction(ending[i], &before[ending[i]], NULL);
  }
  for (size_t i = 0; i < COUNT(noted); i++) install(noted[i], note);
  install(SIGALRM, on_alarm);
  if (!at_exit_set) at_exit_set = atexit(cterminal_restore) == 0;
  installed = 1;
  return 0;
}

void cterminal_remove(void) {
  cterminal_restore();
  if (!installed) return;
  cterminal_cancel_deadline();
  for (size_t i = 0; i < COUNT(fatal); i++) sigaction(fatal[i], &before[fatal[i]], NULL);
  for (size_t i = 0; i < COUNT(ending); i++) sigaction(ending[i], &before[ending[i]], NULL);
  for (size_t i = 0; i < COUNT(noted); i++) sigaction(noted[i], &before[noted[i]], NULL);
  sigaction(SIGALRM, &before[SIGALRM], NULL);
  installed = 0;
}

void cterminal_set_bytes(const void *new_bytes, size_t count) {
  // A handler in between writes nothing rather than half of each.
  atomic_store(&byte_count, 0);
  if (count > sizeof bytes) count = sizeof bytes;
  memcpy(bytes, new_bytes, count);
  atomic_store(&byte_count, count);
}

void cterminal_set_active(int is_active) {
  atomic_store(&active, is_active);
  if (is_active) keep_errors();
}

int cterminal_memory_file(void) { return memfd_create("screen", MFD_CLOEXEC); }

int cterminal_wake_descriptor(void) { return wake[0]; }

unsigned long long cterminal_take_signals(void) {
  char drained[64];
  while (wake[0] >= 0 && read(wake[0], drained, sizeof drained) > 0) {
  }
  return atomic_exchange(&pending, 0);
}

void cterminal_cancel_deadline(void) { alarm(0); }

// Stops the whole group, since a parent (make, say) waits with us and the shell waits for it. Returns 0 if it was not stopped:
// nobody can continue a group without a shell.
static int stop_group(int signal_number) {
  atomic_fetch_and(&pending, ~(1ull << SIGCONT));
  kill(0, signal_number);
  // Another thread may be the one that is stopped first, and its handler may be the one that is told of the end: until
  // then the terminal is the shell's.
  for (int tries = 0; tries < 100; tries++) {
    if (atomic_fetch_and(&pending, ~(1ull << SIGCONT)) & 1ull << SIGCONT) return 1;
    struct timespec moment = {.tv_nsec = 1000 * 1000};
    nanosleep(&moment, NULL);
  }
  return 0;
}

// The shell has continued us in the background, where the terminal is not ours.
static int is_in_background(void) {
  pid_t front = tcgetpgrp(input);
  return front > 0 && front != getpgrp();
}

void cterminal_stop(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL}, ours;
  sigaction(SIGTSTP, &standard, &ours);
  int was_stopped = stop_group(SIGTSTP);
  while (was_stopped && is_in_background()) was_stopped = stop_group(SIGTTIN);
  sigaction(SIGTSTP, &ours, NULL);
}
