// A program that does the agent as much harm as it can, one way a run, and counts its own blocks:
//
//     stress MODE SEED SCALE
//
// It is the same program without the agent: then a mark does nothing. What it prints is the same in each run
// with the same arguments. A line `count MARK SIZE NUMBER` says how many blocks of SIZE bytes it has at MARK; a
// line `range MARK SIZE LOW HIGH` says between which numbers that lies, where a thread may stand in the middle of a
// call. Sizes leave 8 when divided by 16, so that the allocator's size of a block is the one that was asked for.

#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int (*take_mark)(const char *);
static unsigned seed;
static int scale;

#define check(x)                                                                                   \
  do {                                                                                             \
    if (!(x)) {                                                                                    \
      printf("line %d: %s (errno %d)\n", __LINE__, #x, errno);                                     \
      fflush(stdout);                                                                              \
      _exit(99);                                                                                   \
    }                                                                                              \
  } while (0)

// A mark that must work, where there is an agent.
static void mark(const char *name) {
  check(!take_mark || take_mark(name) == 0);
}

// --- blocks that are counted -------------------------------------------------------------------

enum { KINDS = 64, FIRST_SIZE = 4104, STEP = 16 };
static size_t size_of(int kind) {
  return FIRST_SIZE + (size_t)kind * STEP;
}

static long live[KINDS];

static void *make(int kind, unsigned *random) {
  size_t size = size_of(kind);
  void *block = NULL;
  switch (rand_r(random) % 6) {
  case 0:
    block = calloc(1, size);
    break;
  case 1:
    block = realloc(malloc(24), size);
    break;
  case 2:
    check(posix_memalign(&block, 16, size) == 0);
    break;
  case 3:
    block = realloc(malloc(9000), size); // shrinks in its place, most likely
    break;
  case 4:
    block = reallocarray(NULL, size / 8, 8);
    break;
  default:
    block = malloc(size);
  }
  check(block);
  memset(block, kind, size);
  __atomic_fetch_add(&live[kind], 1, __ATOMIC_SEQ_CST);
  return block;
}

static void drop(int kind, void *block) {
  check(((unsigned char *)block)[size_of(kind) - 1] == (unsigned char)kind);
  free(block);
  __atomic_fetch_sub(&live[kind], 1, __ATOMIC_SEQ_CST);
}

static void tell(const char *name) {
  for (int kind = 0; kind < KINDS; kind++)
    if (live[kind])
      printf("count %s %zu %ld\n", name, size_of(kind), live[kind]);
}

// --- 64 threads --------------------------------------------------------------------------------

enum { THREADS = 64, PASSED = 32, KEPT = 96 };
static void *inbox[THREADS][PASSED]; // blocks of the neighbour's, to be freed here
static void *kept[THREADS][KEPT];
static pthread_barrier_t barrier;
static volatile int stop;

static void *work(void *argument) {
  int own = (int)(intptr_t)argument, before = (own + THREADS - 1) % THREADS;
  unsigned random = seed * 977 + (unsigned)own;
  for (int round = 0; round < scale; round++) {
    for (int i = 0; i < KEPT * 4; i++) {
      void **place = &kept[own][rand_r(&random) % KEPT];
      if (*place) {
        drop(own, *place);
        *place = NULL;
      } else {
        *place = make(own, &random);
      }
    }
    // What was passed in the last round is freed by another thread than the one that asked for it.
    for (int i = 0; i < PASSED; i++)
      if (inbox[own][i]) {
        drop(before, inbox[own][i]);
        inbox[own][i] = NULL;
      }
    pthread_barrier_wait(&barrier);
    for (int i = rand_r(&random) % PASSED; i < PASSED; i++)
      inbox[(own + 1) % THREADS][i] = make(own, &random);
    pthread_barrier_wait(&barrier); // everybody stands
    pthread_barrier_wait(&barrier); // the mark is taken
  }
  return NULL;
}

// A thread that always has NOISE blocks of a size of its own, and at most one more, and never stands still.
enum { NOISY = 16, NOISE = 20 };
static size_t noise_size(int thread) {
  return 20008 + (size_t)thread * STEP;
}
static pthread_barrier_t noise_ready;

static void *make_noise(void *argument) {
  size_t size = noise_size((int)(intptr_t)argument);
  void *blocks[NOISE];
  for (int i = 0; i < NOISE; i++)
    check((blocks[i] = malloc(size)));
  pthread_barrier_wait(&noise_ready);
  for (int i = 0; !stop; i = (i + 1) % NOISE) {
    void *next = malloc(size);
    check(next);
    free(blocks[i]);
    blocks[i] = next;
  }
  for (int i = 0; i < NOISE; i++)
    free(blocks[i]);
  return NULL;
}

static void run_threads(int noisy) {
  pthread_t workers[THREADS], noise[NOISY];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  pthread_barrier_init(&noise_ready, NULL, (unsigned)noisy + 1);
  for (intptr_t i = 0; i < THREADS; i++)
    check(pthread_create(&workers[i], NULL, work, (void *)i) == 0);
  for (intptr_t i = 0; i < noisy; i++)
    check(pthread_create(&noise[i], NULL, make_noise, (void *)i) == 0);
  pthread_barrier_wait(&noise_ready);
  for (int round = 0; round < scale; round++) {
    char name[32];
    snprintf(name, sizeof name, "round-%d", round);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    mark(name);
    tell(name);
    for (int i = 0; i < noisy; i++)
      printf("range %s %zu %d %d\n", name, noise_size(i), NOISE, NOISE + 1);
    pthread_barrier_wait(&barrier);
  }
  stop = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i], NULL);
  for (int i = 0; i < noisy; i++)
    pthread_join(noise[i], NULL);
}

static void threads(void) {
  run_threads(0);
}
static void soak(void) {
  run_threads(NOISY);
}

// Other modes go on beside some of these.
static pthread_t noise_threads[NOISY];
static int noise_count;
static void begin_noise(int count) {
  noise_count = count;
  pthread_barrier_init(&noise_ready, NULL, (unsigned)count + 1);
  for (intptr_t i = 0; i < count; i++)
    check(pthread_create(&noise_threads[i], NULL, make_noise, (void *)i) == 0);
  pthread_barrier_wait(&noise_ready);
}
static void tell_noise(const char *name) {
  for (int i = 0; i < noise_count; i++)
    printf("range %s %zu %d %d\n", name, noise_size(i), NOISE, NOISE + 1);
}
static void end_noise(void) {
  stop = 1;
  for (int i = 0; i < noise_count; i++)
    pthread_join(noise_threads[i], NULL);
}
static void numbered_mark(const char *stem, int number) {
  char name[32];
  snprintf(name, sizeof name, "%s-%d", stem, number);
  mark(name);
  tell(name);
  tell_noise(name);
}

// --- processes ---------------------------------------------------------------------------------

static void forks(void) {
  unsigned random = seed;
  begin_noise(4);
  void *mine[8];
  for (int i = 0; i < 8; i++)
    mine[i] = make(i, &random);
  for (int i = 0; i < scale * 10; i++) {
    pid_t child = fork();
    check(child >= 0);
    if (child == 0) {
      // A fork without an exec allocates, frees what is its parent's, and may not be marked.
      for (int j = 0; j < 8; j++)
        free(mine[j]);
      for (int j = 0; j < 1000; j++)
        free(malloc((size_t)j));
      check(!take_mark || take_mark("child") != 0);
      _exit(7);
    }
    if (i % 10 == 5)
      numbered_mark("forks", i / 10);
    int status;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  for (int i = 0; i < 8; i++)
    drop(i, mine[i]);
  end_noise();
}

static void spawns(void) {
  begin_noise(4);
  for (int i = 0; i < scale * 4; i++) {
    char *const arguments[] = {"true", NULL};
    pid_t child;
    int status;
    if (i % 3 == 0) {
      check(system("exit 3") == 3 << 8);
    } else if (i % 3 == 1) {
      check(posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0);
      check(waitpid(child, &status, 0) == child && status == 0);
    } else {
      child = fork();
      if (child == 0) {
        execvp("true", arguments);
        _exit(127);
      }
      check(waitpid(child, &status, 0) == child && status == 0);
    }
    if (i % 4 == 0)
      numbered_mark("spawns", i / 4);
  }
  end_noise();
}

static void becomes_another(void) {
  begin_noise(8);
  numbered_mark("before", 0);
  fflush(stdout);
  execlp("sh", "sh", "-c", "echo another program; exit 9", (char *)NULL);
  check(0);
}

// --- signals -----------------------------------------------------------------------------------

static volatile long ticks, ended;
static void on_tick(int number) {
  (void)number;
  ticks++;
}
static void on_child(int number) {
  (void)number;
  int error = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ended++;
  errno = error;
}

static void signals(void) {
  struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 1000}, {0, 1000}};
  check(sigaction(SIGPROF, &tick, NULL) == 0 && sigaction(SIGCHLD, &child, NULL) == 0);
  begin_noise(8);
  check(setitimer(ITIMER_PROF, &every, NULL) == 0);
  for (int i = 0; i < scale; i++) {
    for (int j = 0; j < 20; j++) {
      pid_t made = fork();
      check(made >= 0);
      if (made == 0)
        _exit(0);
    }
    numbered_mark("signals", i);
  }
  while (ended < scale * 20L)
    usleep(1000);
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, NULL);
  end_noise();
  printf("%ld children, %s\n", ended, ticks > 0 ? "ticks" : "no ticks");
}

// --- libraries, stacks, many marks -------------------------------------------------------------

static void *load_and_unload(void *argument) {
  for (int i = 0; i < scale * 20; i++) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    check(library && dlsym(library, "crc32"));
    check(dlclose(library) == 0);
  }
  return argument;
}

static void libraries(void) {
  pthread_t loaders[4];
  begin_noise(4);
  for (int i = 0; i < 4; i++)
    pthread_create(&loaders[i], NULL, load_and_unload, NULL);
  for (int i = 0; i < scale; i++)
    numbered_mark("libraries", i);
  for (int i = 0; i < 4; i++)
    pthread_join(loaders[i], NULL);
  end_noise();
}

static __attribute__((noinline)) void *hold_deep(size_t bytes, unsigned *random) {
  volatile char *deep = alloca(bytes);
  void *block = make(1, random); // held by this frame alone
  for (size_t i = 0; i < bytes; i += 1024)
    deep[i] = (char)i;
  memcpy((char *)(uintptr_t)deep + 128, &block, sizeof block);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return block;
}

static void *go_deep(void *argument) {
  unsigned random = seed + (unsigned)(intptr_t)argument;
  for (int i = 0; i < scale; i++)
    drop(1, hold_deep(7 << 20, &random));
  return NULL;
}

static void deep(void) {
  pthread_t workers[8];
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, 8 << 20);
  pthread_barrier_init(&barrier, NULL, 9);
  begin_noise(2);
  for (intptr_t i = 0; i < 8; i++)
    check(pthread_create(&workers[i], &large, go_deep, (void *)i) == 0);
  for (int i = 0; i < scale; i++) {
    pthread_barrier_wait(&barrier);
    numbered_mark("deep", i);
    pthread_barrier_wait(&barrier);
  }
  for (int i = 0; i < 8; i++)
    pthread_join(workers[i], NULL);
  end_noise();
}

static void *live_briefly(void *argument) {
  void *blocks[10];
  for (int i = 0; i < 10; i++)
    blocks[i] = malloc(30008);
  for (int i = 0; i < 10; i++)
    free(blocks[i]);
  return argument;
}

static void *make_threads(void *argument) {
  while (!stop) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, live_briefly, NULL) == 0)
      pthread_join(thread, NULL);
  }
  return argument;
}

static void short_threads(void) {
  pthread_t makers[8];
  begin_noise(4);
  for (int i = 0; i < 8; i++)
    pthread_create(&makers[i], NULL, make_threads, NULL);
  for (int i = 0; i < scale; i++) {
    numbered_mark("short", i);
    printf("range short-%d 30008 0 80\n", i);
  }
  end_noise();
  for (int i = 0; i < 8; i++)
    pthread_join(makers[i], NULL);
}

static void *mark_often(void *argument) {
  for (int i = 0; i < scale; i++) {
    char name[32];
    snprintf(name, sizeof name, "by-%d-%d", (int)(intptr_t)argument, i);
    mark(name);
  }
  return NULL;
}

static void two_markers(void) {
  pthread_t markers[2];
  unsigned random = seed;
  begin_noise(4);
  for (int i = 0; i < 50; i++)
    make(i % KINDS, &random);
  for (intptr_t i = 0; i < 2; i++)
    pthread_create(&markers[i], NULL, mark_often, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(markers[i], NULL);
  for (int i = 0; i < 2 * scale; i++) {
    char name[32];
    snprintf(name, sizeof name, "by-%d-%d", i % 2, i / 2);
    tell(name);
    tell_noise(name);
  }
  end_noise();
}

// A mark each 10 ms, or as often as it can be had.
static void often(void) {
  unsigned random = seed;
  begin_noise(4);
  for (int i = 0; i < scale; i++) {
    make(i % KINDS, &random);
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    numbered_mark("often", i);
    do {
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 10);
  }
  end_noise();
}

// A few blocks of each function, on one thread, without a mark that needs another process.
static void family(void) {
  unsigned random = seed;
  void *blocks[KINDS];
  for (int round = 0; round < scale * 20; round++) {
    for (int i = 0; i < KINDS; i++)
      blocks[i] = make(i, &random);
    for (int i = 0; i < KINDS; i++)
      drop(i, blocks[i]);
  }
}

// --- much memory -------------------------------------------------------------------------------

static void many_blocks(void) {
  enum { MANY = 400000, MANY_SIZE = 312 };
  static void *blocks[MANY];
  unsigned random = seed;
  begin_noise(2);
  for (int i = 0; i < scale; i++) {
    for (int j = 0; j < MANY; j++)
      if (!blocks[j])
        check((blocks[j] = malloc(MANY_SIZE)));
    char name[32];
    snprintf(name, sizeof name, "many-%d", i);
    mark(name);
    printf("count %s %d %d\n", name, MANY_SIZE, MANY);
    for (int j = 0; j < MANY; j++)
      if (rand_r(&random) % 2) {
        free(blocks[j]);
        blocks[j] = NULL;
      }
  }
  end_noise();
}

// --- ends --------------------------------------------------------------------------------------

static __attribute__((noinline, optnone)) int overflow(int depth) {
  if (depth < 0)
    return 0;
  volatile char frame[4096];
  frame[0] = (char)depth;
  return overflow(depth + 1) + frame[0];
}

static void overflows(void) {
  begin_noise(2);
  numbered_mark("before", 0);
  fflush(stdout);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  overflow(0);
}

static void on_overflow(int number) {
  (void)number;
  static const char text[] = "the stack is full\n";
  check(write(1, text, sizeof text - 1) > 0);
  _exit(7);
}

static void overflow_handled(void) {
  stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
  check(sigaltstack(&other, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
  mark("before");
  fflush(stdout);
  overflow(0);
}

static void *mark_for_ever(void *argument) {
  while (take_mark) {
    char name[32];
    static int number;
    snprintf(name, sizeof name, "last-%d", number++ % 4);
    take_mark(name);
  }
  return argument;
}

static void end_in_mark(int how) {
  pthread_t marker;
  begin_noise(4);
  pthread_create(&marker, NULL, mark_for_ever, NULL);
  usleep((useconds_t)(1000 + seed * 7919 % 300000));
  puts("ends");
  fflush(stdout);
  if (how == 0)
    exit(5);
  if (how == 1)
    _exit(6);
  if (how == 2)
    kill(getpid(), SIGKILL);
  abort();
}
static void exits(void) {
  end_in_mark(0);
}
static void exits_at_once(void) {
  end_in_mark(1);
}
static void killed(void) {
  end_in_mark(2);
}

// Waits to be marked, and to be told to end by a line on its input.
static void serves(void) {
  unsigned random = seed;
  begin_noise(4);
  for (int i = 0; i < 200; i++)
    make(i % KINDS, &random);
  printf("pid %d\n", getpid());
  fflush(stdout);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    int result = take_mark ? take_mark(line) : 0;
    printf("mark %s %d\n", line, result);
    fflush(stdout);
  }
  end_noise();
  puts("served");
}

static const struct {
  const char *name;
  void (*run)(void);
} modes[] = {
    {"threads", threads},
    {"soak", soak},
    {"forks", forks},
    {"spawns", spawns},
    {"exec", becomes_another},
    {"signals", signals},
    {"libraries", libraries},
    {"deep", deep},
    {"short-threads", short_threads},
    {"two-markers", two_markers},
    {"often", often},
    {"many-blocks", many_blocks},
    {"overflow", overflows},
    {"overflow-handled", overflow_handled},
    {"exit", exits},
    {"_exit", exits_at_once},
    {"killed", killed},
    {"serves", serves},
    {"family", family},
};

int main(int count, char **arguments) {
  check(count == 4);
  take_mark = (int (*)(const char *))dlsym(RTLD_DEFAULT, "memory_graph_mark");
  seed = (unsigned)atoi(arguments[2]);
  scale = atoi(arguments[3]);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(arguments[1], modes[i].name) == 0) {
      modes[i].run();
      fflush(stdout);
      return 23;
    }
  check(0);
}
