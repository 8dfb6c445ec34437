/* The team: threads that help callers with their tasks.

   A caller offers a job and takes part in it; threads are started when the first job wants them, and never end.  The
   tasks of a job are divided into one share per thread.  A thread claims the tasks of its own share one by one, then
   those left in others: so it works on the same part of the data in successive jobs, and finds it in the cache of
   its processor.  Jobs of several callers share the team: together callers and helpers are no more threads than the
   largest number that one of them asked for, so eight callers on two processors get no help and need none.  An idle
   thread spins for a few microseconds, yields for 300 more, and then sleeps: a wake-up costs 20 us, on virtual
   processors 150.

   On a busy machine a helper that is not running holds its task, and the caller waits for milliseconds.  So each job is
   judged: the processor time of all its threads is what the caller alone would take at most.  The time beyond that is
   a loss, and callers work alone until AMORTIZED times the loss has been computed.  Thus a team costs at most a part in
   AMORTIZED more than one thread, on any machine.

   A child of fork has no threads but its own; its team is a new one. */
#pragma once
#include "interrupt.c"

enum { MOST_SHARES = 16, COUNTER_STRIDE = 64 / sizeof(i64) }; /* each counter has a cache line of its own */
enum { AMORTIZED = 8, MOST_LOSS_NS = 50000000, MOST_DEBT_NS = 2000000000 };
enum { SPINS = 100, AWAKE_NS = 300000, MOST_THREADS = 256, STACK_BYTES = 1 << 20, LOG_COLUMNS = 3, LOG_ROOM = 1 << 14 };

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() __asm__ volatile("" ::: "memory")
#endif

typedef struct job {
    void (*task)(void *context, i64 index);
    void *context;
    i64 tasks, shares;
    i64 *next;     /* of each share, COUNTER_STRIDE apart: the first unclaimed task */
    i32 threads;   /* most threads */
    i32 helpers;   /* helpers at work; changed under the lock */
    i32 stoppable; /* it belongs to a call that listens to Ctrl-C */
    i32 processor; /* where its caller ran; -1: unknown */
    i64 (*clock)(void);
    i64 spent; /* processor time of its threads */
    struct job *following;
} job;

static pthread_mutex_t team_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_offered = PTHREAD_COND_INITIALIZER, helper_left = PTHREAD_COND_INITIALIZER;
static job *offered;  /* the oldest first; under the lock, like the rest */
static i32 jobs_ever; /* counted modulo 2^31; idle threads read it without the lock */
static i32 team_size, asleep, numbered;
static i32 callers, helping;                         /* threads at work */
static __thread i32 in_task, thread_number;          /* a caller has the number 0, helpers count from 1 */
static i64 team_log[LOG_ROOM * LOG_COLUMNS], logged; /* log of work: see ag_log_team */
static i32 is_logging;
static i64 debt; /* processor time for which callers still work alone */

#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)

/* Shares differ by at most one task. */
static i64 share_begin(const job *j, i64 share) { return j->tasks * share / j->shares; }

static i32 share_is_open(job *j, i64 share)
{
    return __atomic_load_n(&j->next[share * COUNTER_STRIDE], __ATOMIC_RELAXED) < share_begin(j, share + 1);
}

/* Whether there are unclaimed tasks. */
static i32 has_tasks(job *j)
{
    for (i64 share = 0; share < j->shares; share++)
        if (share_is_open(j, share)) return 1;
    return 0;
}

static i32 is_open(job *j) { return !(j->stoppable && is_raised()) && has_tasks(j); }

/* Claim a task of this thread's share, or of the next one that has any; -1: there is none.  The first share is the
   caller's. */
static i64 claim(job *j)
{
    const i64 own = thread_number && j->shares > 1 ? 1 + (thread_number - 1) % (j->shares - 1) : 0;
    for (i64 k = 0; k < j->shares; k++) {
        const i64 share = (own + k) % j->shares;
        if (!share_is_open(j, share)) continue;
        const i64 index = __atomic_fetch_add(&j->next[share * COUNTER_STRIDE], 1, __ATOMIC_RELAXED);
        if (index < share_begin(j, share + 1)) return index;
    }
    return -1;
}

static void note_work(i64 begun, i64 ended)
{
    i64 *entry = team_log + LOG_COLUMNS * (__atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED) % LOG_ROOM);
    entry[0] = thread_number, entry[1] = begun, entry[2] = ended;
}

static i64 thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (i64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static i64 (*wall_time)(void) = clock_ns, (*processor_time)(void) = thread_ns;

static i64 between(i64 least, i64 x, i64 most) { return x < least ? least : x > most ? most : x; }

static void owe(i64 more)
{
    i64 old = READ(debt), sum;
    do sum = between(0, old + more, MOST_DEBT_NS);
    while (!__atomic_compare_exchange_n(&debt, &old, sum, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/* Work on the tasks of a job; while there is debt, if the thread `pays` it. */
static void work_on(job *j, i32 pays)
{
    const i32 log = READ(is_logging);
    const i64 begun = log ? j->clock() : 0, spent = j->shares > 1 ? processor_time() : 0;
    i64 index, last = spent, worked = 0;
    while ((!pays || READ(debt)) && !(j->stoppable && is_raised()) && (index = claim(j)) >= 0) {
        j->task(j->context, index);
        worked = 1;
        if (!pays) continue;
        const i64 now = processor_time();
        owe(last - now);
        last = now;
    }
    if (j->shares > 1) __atomic_fetch_add(&j->spent, processor_time() - spent, __ATOMIC_RELAXED);
    if (log && worked) note_work(begun, j->clock());
}

/* Return the oldest job that this thread may help with. */
static job *job_to_help(void)
{
    for (job *j = offered; j; j = j->following)
        if (j->helpers + 1 < j->threads && callers + helping < j->threads && is_open(j)) return j;
    return NULL;
}

/* Whether a number that was `seen` changes: spin for some microseconds, then yield to other threads for `ns`. */
static i32 watch(const i32 *number, i32 seen, i64 ns)
{
    for (i32 k = 0; k < SPINS && READ(*number) == seen; k++) PAUSE();
    for (i64 end = clock_ns() + ns; READ(*number) == seen && clock_ns() < end;) sched_yield();
    return READ(*number) != seen;
}

/* Wait for a job; the lock is held before and after. */
static void await_job(void)
{
    i32 seen = jobs_ever;
    pthread_mutex_unlock(&team_lock);
    watch(&jobs_ever, seen, AWAKE_NS);
    pthread_mutex_lock(&team_lock);
    if (job_to_help()) return;
    asleep++;
    pthread_cond_wait(&work_offered, &team_lock);
    asleep--;
}

#if defined(__linux__)
static i32 processor_now(void) { return sched_getcpu(); }

/* Move to another processor, if others are allowed. */
static void leave_processor(void)
{
    cpu_set_t allowed, others;
    const i32 here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed)) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof others, &others))
        sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
static i32 processor_now(void) { return -1; }
static void leave_processor(void) {}
#endif

/* The kernel may wake a thread on the processor of its caller, where it stays for milliseconds while others idle.  It
   moves before it takes part: if all processors are busy, the caller does not wait for it. */
static void *help(void *unused)
{
    i32 moved = 0;
    in_task = 1;
    pthread_mutex_lock(&team_lock);
    thread_number = ++numbered;
    for (;;) {
        job *j = job_to_help();
        if (!j) {
            await_job();
            continue;
        }
        if (!moved && j->processor >= 0 && j->processor == processor_now()) {
            pthread_mutex_unlock(&team_lock);
            leave_processor();
            moved = 1;
            pthread_mutex_lock(&team_lock);
            continue;
        }
        moved = 0;
        WRITE(j->helpers, j->helpers + 1);
        helping++;
        pthread_mutex_unlock(&team_lock);
        work_on(j, 0);
        pthread_mutex_lock(&team_lock);
        helping--;
        WRITE(j->helpers, j->helpers - 1); /* the job may be freed from here on */
        pthread_cond_broadcast(&helper_left);
    }
    return unused;
}

/* Threads sleep in this library, so it must never be unloaded, even when Python ends.  A statically linked program
   (AG_STATIC) is never unloaded. */
static void pin_library(void)
{
#ifndef AG_STATIC
    Dl_info here;
    if (dladdr((void *)pin_library, &here)) dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

/* Start threads until there are `wanted`, or the system gives no more.  Signals are for other threads to handle. */
static void grow_team(i32 wanted)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (team_size >= wanted || pthread_attr_init(&attributes)) return;
    if (team_size == 0) pin_library();
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t started;
    while (team_size < wanted && !pthread_create(&started, &attributes, help, NULL)) team_size++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void offer(job *j)
{
    job **last = &offered;
    i64 useful = (j->tasks < j->threads ? j->tasks : j->threads) - 1;
    pthread_mutex_lock(&team_lock);
    while (*last) last = &(*last)->following;
    *last = j;
    WRITE(jobs_ever, (jobs_ever + 1) & 0x7fffffff);
    callers++;
    grow_team((i32)useful);
    for (i64 k = 0; k < useful && k < asleep; k++) pthread_cond_signal(&work_offered);
    pthread_mutex_unlock(&team_lock);
}

/* Withdraw the job and wait for the threads that still work on it. */
static void withdraw(job *j)
{
    job **link = &offered;
    pthread_mutex_lock(&team_lock);
    while (*link != j) link = &(*link)->following;
    *link = j->following;
    callers--;
    if (offered && asleep) pthread_cond_signal(&work_offered); /* a place for a helper is free */
    if (j->helpers) {
        pthread_mutex_unlock(&team_lock);
        for (i32 left = READ(j->helpers); left && watch(&j->helpers, left, AWAKE_NS);) left = READ(j->helpers);
        pthread_mutex_lock(&team_lock);
        while (j->helpers) pthread_cond_wait(&helper_left, &team_lock);
    }
    pthread_mutex_unlock(&team_lock);
}

static void work_together(job *j)
{
    const i64 begun = wall_time();
    j->spent = 0;
    offer(j);
    work_on(j, 0);
    withdraw(j);
    const i64 loss = wall_time() - begun - j->spent;
    if (loss > j->spent / AMORTIZED) owe(AMORTIZED * between(0, loss, MOST_LOSS_NS));
}

static i32 parallel(const ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context)
{
    i32 threads = rt->threads < MOST_THREADS ? rt->threads : MOST_THREADS;
    i64 next[MOST_SHARES * COUNTER_STRIDE] __attribute__((aligned(64)));
    const i64 shares = tasks < 2 || threads < 2 || in_task ? 1 : threads < MOST_SHARES ? threads : MOST_SHARES;
    job j = {.task = task, .context = context, .tasks = tasks, .shares = shares, .next = next, .threads = threads};
    j.stoppable = on_main_thread() && attention == LISTENING, j.processor = processor_now(), j.clock = rt->clock;
    for (i64 share = 0; share < shares; share++) next[share * COUNTER_STRIDE] = share_begin(&j, share);
    if (shares == 1) work_on(&j, 0);
    else {
        in_task = 1;
        if (READ(debt)) work_on(&j, 1);
        if (is_open(&j)) work_together(&j);
        in_task = 0;
    }
    return has_tasks(&j);
}

/* The clocks by which the team is judged, in ns, for tests; NULL: those of the system.  There is no debt then. */
EXPORT void ag_judge_team(i64 (*wall)(void), i64 (*processor)(void))
{
    wall_time = wall ? wall : clock_ns, processor_time = processor ? processor : thread_ns;
    WRITE(debt, 0);
}

/* Log thread, begin and end of each share of a job from now on, the newest over the oldest.  Return the log; room: its
   capacity.  Times are those of the clock of the call that offers the job. */
EXPORT i64 *ag_log_team(i32 *room)
{
    WRITE(is_logging, 1);
    *room = LOG_ROOM;
    return team_log;
}

/* out: threads of the team, those that help, callers. */
EXPORT void ag_team(i32 *out)
{
    pthread_mutex_lock(&team_lock);
    out[0] = team_size, out[1] = helping, out[2] = callers;
    pthread_mutex_unlock(&team_lock);
}

static void team_in_child(void)
{
    pthread_mutex_init(&team_lock, NULL);
    pthread_cond_init(&work_offered, NULL);
    pthread_cond_init(&helper_left, NULL);
    offered = NULL;
    jobs_ever = team_size = asleep = numbered = callers = helping = in_task = thread_number = 0;
    debt = 0;
}
