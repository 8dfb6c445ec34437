/* Ctrl-C in a long call: the call ends early, and Python raises the KeyboardInterrupt.

   Only the main thread is interrupted, since Python runs its handlers there.  A call begins to listen before much
   work, or after a millisecond.  From then until its end our handler replaces Python's, sets the flag `stop` and
   calls Python's.  Short calls pay nothing. */
#pragma once
#include "runtime.c"

#if !defined(__clang__)
#pragma GCC optimize("O0") /* from here on: cheap checks and claims; optimizing them costs 60 ms of the first start */
#endif

#ifdef __APPLE__
#define HAS_PLAIN_HANDLER(action) (!((action).sa_flags & SA_SIGINFO))
#else
#define HAS_PLAIN_HANDLER(action) (!((action).sa_flags & (SA_SIGINFO | (int)SA_RESETHAND)))
#endif

enum { PATIENCE_NS = 1000000 };
enum { AWAY, LISTENING, COMMITTED };

static volatile i32 stop; /* helpers read it concurrently: use the two functions below */
static struct sigaction inherited;
static pthread_t main_thread;
static i32 attention; /* of the main thread's call, like the variables below */
static i64 at_work_since;

static void set_main_thread(__UINT64_TYPE__ identity) { main_thread = (pthread_t)identity; }

static i32 on_main_thread(void) { return pthread_equal(pthread_self(), main_thread); }

static i32 is_raised(void) { return __atomic_load_n(&stop, __ATOMIC_RELAXED); }
static void set_stop(i32 value) { __atomic_store_n(&stop, value, __ATOMIC_RELAXED); }

static void on_interrupt(int number)
{
    int before = errno; /* of what was interrupted */
    set_stop(1);
    inherited.sa_handler(number);
    errno = before;
}

/* Install our handler before Python's, if Python has one. */
static void begin_to_listen(void)
{
    if (sigaction(SIGINT, NULL, &inherited) || !HAS_PLAIN_HANDLER(inherited)) return;
    if (inherited.sa_handler == SIG_DFL || inherited.sa_handler == SIG_IGN) return;
    struct sigaction ours = inherited;
    ours.sa_handler = on_interrupt;
    set_stop(0);
    if (!sigaction(SIGINT, &ours, NULL)) attention = LISTENING;
}

/* Restore Python's handler, unless the program has installed another one since. */
static void no_longer_listen(void)
{
    struct sigaction current;
    if (!sigaction(SIGINT, NULL, &current) && current.sa_handler == on_interrupt) sigaction(SIGINT, &inherited, NULL);
}

static void listen_to_interrupt(void)
{
    if (on_main_thread() && attention == AWAY) begin_to_listen();
}

static i32 poll_interrupt(void)
{
    if (!on_main_thread()) return 0;
    if (attention == AWAY) {
        i64 now = clock_ns();
        if (!at_work_since) at_work_since = now;
        else if (now - at_work_since > PATIENCE_NS) begin_to_listen();
    }
    return is_raised() && attention == LISTENING;
}

static i32 commit_call(void)
{
    if (!on_main_thread()) return 0;
    i32 listened = attention == LISTENING;
    if (listened) no_longer_listen();
    attention = COMMITTED;
    return listened && is_raised();
}

static void end_call(void)
{
    if (!on_main_thread()) return;
    if (attention == LISTENING) no_longer_listen();
    attention = AWAY;
    at_work_since = 0;
}

/* The thread that forks is the main thread of the child, and is in no call. */
static void interrupt_in_child(void)
{
    if (attention == LISTENING) no_longer_listen();
    attention = AWAY;
    at_work_since = 0;
    main_thread = pthread_self();
}
