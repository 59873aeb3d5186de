// CProgram: a C program that does, one a run, what the tests of the agent look at.

/// A C program that does, one a run, what the tests of the agent look at.
///
/// It knows the agent by `dlsym` alone. `check` ends it with a line that says what did not hold.
enum CProgram {
  static let text = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <malloc.h>
    #include <poll.h>
    #include <pthread.h>
    #include <semaphore.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/epoll.h>
    #include <sys/mman.h>
    #include <sys/resource.h>
    #include <sys/msg.h>
    #include <sys/sem.h>
    #include <sys/uio.h>
    #include <sys/select.h>
    #include <sys/socket.h>
    #include <sys/stat.h>
    #include <sys/time.h>
    #include <sys/un.h>
    #include <sys/wait.h>
    #include <dirent.h>
    #include <time.h>
    #include <ucontext.h>
    #include <unistd.h>

    static int (*mg_start)(void);
    static int (*mg_mark)(const char *);
    static int (*mg_snapshot)(const char *);
    static int (*mg_register)(const void *, const char *);
    static int (*mg_register_resource)(const void *, const char *, size_t);
    static int (*mg_unregister)(const void *);
    static int (*mg_add)(const void *, const void *, const char *);
    static int (*mg_remove)(const void *, const void *, const char *);
    static const char *(*mg_problem)(void);

    #define check(x) do { if (!(x)) { printf("line %d: %s (errno %d)\n", __LINE__, #x, errno); \
      fflush(stdout); _exit(99); } } while (0)
    #define KEEP __attribute__((noinline, optnone))

    static void *volatile kept[100000];
    static volatile int kept_count;
    static void keep(void *block) { kept[__atomic_fetch_add(&kept_count, 1, __ATOMIC_SEQ_CST)] = block; }

    static void recurse(int depth, size_t bytes);

    static int file_count(void) {
      int count = 0;
      DIR *folder = opendir("/proc/self/fd");
      while (readdir(folder)) count++;
      closedir(folder);
      return count;
    }

    // --- every function of the family

    static void family(void) {
      keep(malloc(10001));
      keep(calloc(10, 1001));
      void *grown = malloc(20);
      grown = realloc(grown, 10003);
      keep(grown);
      keep(aligned_alloc(64, 10048));
      void *block = NULL;
      check(posix_memalign(&block, 128, 10005) == 0 && (uintptr_t)block % 128 == 0);
      keep(block);
      keep(memalign(256, 10006));
      keep(valloc(10007));
      keep(pvalloc(4096 * 3));
      keep(reallocarray(NULL, 10009, 1));
      keep(strdup("abcdefghijklmnopqrstuvwxyz"));
      keep(malloc(0));
      printf("empty %p\n", kept[kept_count - 1]);
      free(malloc(10011));
      void *shrunk = malloc(10012);
      shrunk = realloc(shrunk, 40);
      keep(shrunk);
      check(realloc(malloc(10013), 0) == NULL);
      // Large enough for a mapping of its own, and for mremap to move.
      void *large = malloc(300 << 20);
      large = realloc(large, 310 << 20);
      keep(large);
      printf("large %p\n", large);
      check(mg_mark("family") == 0);
    }

    static void failures(void) {
      char *block = malloc(20001);
      block[0] = 7;
      size_t much = (size_t)PTRDIFF_MAX - 100;
      errno = 0;
      check(realloc(block, much) == NULL && errno == ENOMEM);
      check(block[0] == 7);
      check(malloc(much) == NULL && errno == ENOMEM);
      check(calloc(SIZE_MAX / 2, 3) == NULL);
      check(reallocarray(block, SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
      errno = EDOM;
      void *aligned = block;
      check(posix_memalign(&aligned, 3, 10) == EINVAL && aligned == block);
      check(posix_memalign(&aligned, 4, 10) == EINVAL);
      check(posix_memalign(&aligned, 0, 10) == EINVAL);
      check(posix_memalign(&aligned, 64, much) == ENOMEM && aligned == block);
      free(malloc(10));
      free(NULL);
      check(errno == EDOM);
      keep(block);
      check(mg_mark("failures") == 0);
      check(errno == EDOM);
    }

    static void generations(void) {
      void *first = malloc(30001);
      check(mg_mark("a") == 0);
      void *second = malloc(30002);
      free(first);
      first = malloc(30001); // the same address, most likely; another generation
      check(mg_mark("b") == 0);
      second = realloc(second, 30003);
      check(mg_mark("c") == 0);
      keep(first);
      keep(second);
    }

    // --- threads

    enum { WORKERS = 4, ROUNDS = 20000, KEPT_EACH = 100 };

    static void *work(void *argument) {
      size_t own = 40000 + (size_t)(intptr_t)argument;
      unsigned seed = (unsigned)own;
      void *ring[64] = {0};
      for (int i = 0; i < ROUNDS; i++) {
        int at = rand_r(&seed) % 64;
        switch (rand_r(&seed) % 3) {
        case 0: free(ring[at]); ring[at] = NULL; break;
        case 1: free(ring[at]); ring[at] = malloc(own); break;
        default: ring[at] = realloc(ring[at], own); break;
        }
        if (i % (ROUNDS / KEPT_EACH) == 0) keep(malloc(own));
      }
      for (int i = 0; i < 64; i++) free(ring[i]);
      return NULL;
    }

    static void threads(void) {
      pthread_t workers[WORKERS];
      for (intptr_t i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, (void *)i);
      for (int i = 0; i < 5; i++) check(mg_mark("busy") == 0);
      for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
      check(mg_mark("quiet") == 0);
    }

    static void *live_briefly(void *unused) { free(malloc(50001)); return unused; }

    static volatile int stop;
    static void *make_threads(void *unused) {
      while (!stop) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live_briefly, NULL) == 0) pthread_join(thread, NULL);
      }
      return unused;
    }

    static void short_threads(void) {
      pthread_t makers[3];
      for (int i = 0; i < 3; i++) pthread_create(&makers[i], NULL, make_threads, NULL);
      for (int i = 0; i < 20; i++) check(mg_mark("churn") == 0);
      stop = 1;
      for (int i = 0; i < 3; i++) pthread_join(makers[i], NULL);
    }

    static void *block_all(void *unused) {
      sigset_t all;
      sigfillset(&all);
      check(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
      keep(malloc(60001));
      while (!stop) usleep(1000);
      return unused;
    }

    static void *wait_for_all(void *unused) {
      sigset_t all;
      int signal = 0;
      sigfillset(&all);
      check(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
      keep(malloc(60002));
      check(sigwait(&all, &signal) == 0);
      check(signal == SIGUSR1);
      return unused;
    }

    static void *mark_here(void *result) { *(int *)result = mg_mark("small stack"); return NULL; }

    static void small_stack(void) {
      pthread_attr_t attributes;
      pthread_t thread;
      int result = -1;
      pthread_attr_init(&attributes);
      check(pthread_attr_setstacksize(&attributes, 24 << 10) == 0);
      check(pthread_create(&thread, &attributes, mark_here, &result) == 0);
      pthread_join(thread, NULL);
      check(result == 0);
    }

    // Below its own frame everything is what this block's address was left in.
    static KEEP void leave_words(uintptr_t word) {
      volatile uintptr_t words[1024];
      for (int i = 0; i < 1024; i++) words[i] = word;
    }

    static KEEP uintptr_t lose_block_of(size_t bytes) { return ~(uintptr_t)malloc(bytes); }
    static KEEP uintptr_t lose_block(void) { return lose_block_of(50021); }

    static void stale_frames(void) {
      volatile uintptr_t hidden = lose_block();
      keep(malloc(50022));
      void *volatile held = malloc(50023);
      leave_words(~hidden);
      check(mg_mark("stale") == 0);
    #if defined(__x86_64__)
      // What a function keeps for its caller, each with the only reference to a block of its own.
    #define MARK_WITH(register, bytes) do { \
        uintptr_t only = lose_block_of(bytes); \
        leave_words(0); \
        __asm__ volatile("mov %0, %%" register "\n not %%" register "\n call *%1" \
          : : "r"(only), "r"(mg_mark), "D"("with " register) \
          : register, "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc"); \
      } while (0)
      MARK_WITH("rbx", 50024);
      MARK_WITH("r12", 50025);
      MARK_WITH("r13", 50026);
      MARK_WITH("r14", 50027);
      MARK_WITH("r15", 50028);
    #endif
      check(held != NULL);
    }

    static void odd_path(void) {
      check(mg_snapshot("/nowhere/\x1b[31m\xc2\x9b" "1m/\r\x7f.mgraph") != 0);
    }

    static void masked(void) {
      pthread_t blocking, waiting;
      pthread_create(&blocking, NULL, block_all, NULL);
      pthread_create(&waiting, NULL, wait_for_all, NULL);
      while (kept_count < 2) usleep(1000);
      usleep(20000);
      for (int i = 0; i < 3; i++) check(mg_mark("masked") == 0);
      pthread_kill(waiting, SIGUSR1);
      pthread_join(waiting, NULL);
      stop = 1;
      pthread_join(blocking, NULL);
    }

    // --- calls that a handled signal ends

    static double now(void) {
      struct timespec time;
      clock_gettime(CLOCK_MONOTONIC, &time);
      return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    }

    static volatile int sleepers;
    enum { CALLS = 17 };

    // A socket that nothing comes from, with a limit.
    static int limited_socket(int end[2]) {
      struct timeval limit = {0, 400000};
      check(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
      check(setsockopt(end[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
      check(setsockopt(end[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
      return end[0];
    }

    static int listening_socket(void) {
      struct sockaddr_un address = {.sun_family = AF_UNIX};
      struct timeval limit = {0, 400000};
      int file = socket(AF_UNIX, SOCK_STREAM, 0);
      // A name of the kernel's choice.
      check(bind(file, (struct sockaddr *)&address, sizeof address.sun_family) == 0);
      check(listen(file, 1) == 0);
      check(setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
      return file;
    }

    static void *sleep_somehow(void *argument) {
      double start = now(), wanted = 0.4;
      struct timespec time = {0, 400000000}, moment;
      struct timeval limit = {0, 400000};
      struct epoll_event event;
      sem_t semaphore;
      sem_init(&semaphore, 0, 0);
      clock_gettime(CLOCK_REALTIME, &moment);
      moment.tv_sec += 1;
      int file = epoll_create1(EPOLL_CLOEXEC), ends[2];
      char bytes[4096] = {0};
      struct msghdr message = {.msg_iov = &(struct iovec){bytes, 16}, .msg_iovlen = 1};
      int semaphores = semget(IPC_PRIVATE, 1, 0600);
      struct sembuf down = {0, -1, 0};
      switch ((intptr_t)argument) {
      case 10: check(read(limited_socket(ends), bytes, 16) == -1 && errno == EAGAIN); break;
      case 11: check(recv(limited_socket(ends), bytes, 16, 0) == -1 && errno == EAGAIN); break;
      case 12: check(recvmsg(limited_socket(ends), &message, 0) == -1 && errno == EAGAIN); break;
      case 13: check(accept(listening_socket(), NULL, NULL) == -1 && errno == EAGAIN); break;
      case 14: check(semtimedop(semaphores, &down, 1, &time) == -1 && errno == EAGAIN); break;
      case 15: check(epoll_pwait2(file, &event, 1, &time, NULL) == 0); break;
      case 16: {
        int full = limited_socket(ends);
        while (send(full, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
        start = now();
        check(send(full, bytes, sizeof bytes, 0) == -1 && errno == EAGAIN);
        break;
      }
      case 0: check(sleep(1) == 0); wanted = 1; break;
      case 1: check(usleep(400000) == 0); break;
      case 2: check(nanosleep(&time, &time) == 0); break;
      case 3: check(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0); break;
      case 4: check(poll(NULL, 0, 400) == 0); break;
      case 5: check(select(0, NULL, NULL, NULL, &limit) == 0); break;
      case 6: check(ppoll(NULL, 0, &time, NULL) == 0); break;
      case 7: check(pselect(0, NULL, NULL, NULL, &time, NULL) == 0); break;
      case 8: check(epoll_wait(file, &event, 1, 400) == 0); break;
      default:
        check(sem_timedwait(&semaphore, &moment) == -1 && errno == ETIMEDOUT);
        wanted = 0.9;
      }
      check(now() - start >= wanted - 0.01);
      semctl(semaphores, 0, IPC_RMID);
      close(file);
      __atomic_fetch_sub(&sleepers, 1, __ATOMIC_SEQ_CST);
      return NULL;
    }

    static void on_usr1(int signal) { (void)signal; }

    static volatile int woken;
    static void *sleep_until_signal(void *unused) {
      struct timespec time = {1000, 0};
      check(nanosleep(&time, &time) == -1 && errno == EINTR && time.tv_sec >= 990);
      check(poll(NULL, 0, -1) == -1 && errno == EINTR);
      woken = 1;
      return unused;
    }

    static volatile int paused;
    static void *pause_until_signal(void *unused) {
      check(pause() == -1 && errno == EINTR);
      sigset_t none;
      sigemptyset(&none);
      __atomic_fetch_add(&paused, 1, __ATOMIC_SEQ_CST);
      check(sigsuspend(&none) == -1 && errno == EINTR);
      __atomic_fetch_add(&paused, 1, __ATOMIC_SEQ_CST);
      return unused;
    }

    static int queue;
    static void *wait_for_message(void *unused) {
      struct { long type; char text[8]; } message;
      check(msgrcv(queue, &message, 8, 0, 0) == 3 && message.type == 7);
      return unused;
    }

    static void *wait_for_usr2(void *unused) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR2);
      pthread_sigmask(SIG_BLOCK, &set, NULL);
      check(sigwaitinfo(&set, NULL) == SIGUSR2);
      __atomic_fetch_add(&paused, 1, __ATOMIC_SEQ_CST);
      return unused;
    }

    // A server that waits for its signal goes on waiting, marks or not.
    static void pauses(void) {
      struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
      sigaction(SIGUSR1, &action, NULL);
      pthread_t pausing, waiting, receiving;
      queue = msgget(IPC_PRIVATE, 0600);
      pthread_create(&pausing, NULL, pause_until_signal, NULL);
      pthread_create(&waiting, NULL, wait_for_usr2, NULL);
      pthread_create(&receiving, NULL, wait_for_message, NULL);
      usleep(50000);
      for (int marks = 0; marks < 5; marks++) check(mg_mark("pausing") == 0);
      usleep(20000);
      check(paused == 0);
      pthread_kill(pausing, SIGUSR1);
      while (paused < 1) usleep(1000);
      usleep(20000);
      for (int marks = 0; marks < 5; marks++) check(mg_mark("suspended") == 0);
      usleep(20000);
      check(paused == 1);
      pthread_kill(pausing, SIGUSR1);
      pthread_kill(waiting, SIGUSR2);
      pthread_join(pausing, NULL);
      pthread_join(waiting, NULL);
      struct { long type; char text[8]; } message = {7, "abc"};
      check(msgsnd(queue, &message, 3, 0) == 0);
      pthread_join(receiving, NULL);
      msgctl(queue, IPC_RMID, NULL);
      check(paused == 3);
    }

    static void sleeps(void) {
      struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
      sigaction(SIGUSR1, &action, NULL);
      pthread_t threads[CALLS], other;
      sleepers = CALLS;
      for (intptr_t i = 0; i < CALLS; i++)
        pthread_create(&threads[i], NULL, sleep_somehow, (void *)i);
      pthread_create(&other, NULL, sleep_until_signal, NULL);
      int marks = 0;
      for (; sleepers > 0 || marks < 3; marks++) check(mg_mark("sleeping") == 0);
      for (int i = 0; i < CALLS; i++) pthread_join(threads[i], NULL);
      // The program's own signals still end a call.
      while (!woken) { pthread_kill(other, SIGUSR1); usleep(1000); }
      pthread_join(other, NULL);
    }

    // --- what the program could notice

    static volatile int alarms, children;
    static void on_alarm(int signal) { (void)signal; alarms++; }
    static void on_child(int signal) { (void)signal; children++; }

    static void unnoticed(void) {
      struct sigaction action = {.sa_handler = on_child};
      sigaction(SIGCHLD, &action, NULL);
      action.sa_handler = on_alarm;
      action.sa_flags = SA_RESTART;
      sigaction(SIGALRM, &action, NULL);
      struct itimerval often = {{0, 500}, {0, 500}};
      setitimer(ITIMER_REAL, &often, NULL);
      int files = file_count();
      errno = ERANGE;
      for (int i = 0; i < 10; i++) check(mg_mark("unnoticed") == 0);
      check(errno == ERANGE);
      check(file_count() == files);
      check(children == 0);
      check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
      check(alarms > 0);
      // No use of the alarm on the way out.
      struct itimerval never = {{0, 0}, {0, 0}};
      setitimer(ITIMER_REAL, &never, NULL);
    }

    static void forks(void) {
      void *before = malloc(70001);
      pid_t child = fork();
      if (child == 0) {
        free(before);
        for (int i = 0; i < 1000; i++) free(malloc((size_t)i));
        check(mg_mark("child") == ENOTSUP);
        check(mg_register(before, "x") == ENOTSUP);
        _exit(0);
      }
      int status = -1;
      check(waitpid(child, &status, 0) == child && status == 0);
      keep(before);
      check(mg_mark("parent") == 0);
      // A program that the child becomes is as alone.
      child = fork();
      if (child == 0) { execl("/usr/bin/env", "env", NULL); _exit(127); }
      check(waitpid(child, &status, 0) == child && status == 0);
    }

    static void environment(void) {
      check(getenv("LD_PRELOAD") == NULL);
      check(getenv("MEMORY_GRAPH_OUT") == NULL && getenv("MEMORY_GRAPH_CHANNEL") == NULL);
      check(strcmp(getenv("OTHER"), "stays") == 0);
    }

    static void unwritable(void) {
      int files = file_count();
      for (int i = 0; i < 3; i++) printf("%d\n", mg_mark("fails"));
      check(file_count() == files);
      keep(malloc(80001));
    }

    // From none to five descriptors are left.
    static void few_files(void) {
      int lowest = dup(0);
      close(lowest);
      for (int left = 5; left >= 0; left--) {
        struct rlimit limit = {(rlim_t)(lowest + left), 1000};
        check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        char name[16];
        snprintf(name, sizeof name, "left %d", left);
        printf("%d\n", mg_mark(name));
        check(left == 0 || (dup(0) == lowest && close(lowest) == 0));
      }
    }

    static void *allocate_deeply(void *unused) {
      recurse(300, 14001);
      return unused;
    }

    // Where /proc is not there nobody knows a new thread's stack, and which threads there are.
    static void no_proc(void) {
      char folder[] = "/tmp/memory-graph-test-XXXXXX";
      check(mkdtemp(folder) && chroot(folder) == 0 && rmdir("/") != 0);
      pthread_t thread;
      check(pthread_create(&thread, NULL, allocate_deeply, NULL) == 0);
      pthread_join(thread, NULL);
      check(mg_mark("no list of threads") != 0);
      printf("%s\n", folder);
    }

    // What a user without rights may have written by root's memgraph run.
    static void elsewhere(void) {
      check(getuid() != 0);
      printf("%d\n", mg_snapshot("/tmp/memory-graph-test-elsewhere.mgraph"));
      printf("%d\n", mg_mark("inside"));
    }

    static void hung_up(void) {
      int files = file_count();
      check(mg_mark("fails") == EPIPE);
      check(file_count() == files);
      check(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
    }

    static void names(void) {
      check(mg_mark("call 1/2") == 0);
      check(mg_mark("call 1/2") == 0);
      check(mg_mark("call:1:2") == 0);
      check(mg_mark("../up") == 0);
      check(mg_mark("") == 0);
      check(mg_mark("a.b_c-D9") == 0);
      char cwd[4096];
      check(getcwd(cwd, sizeof cwd));
      check(chdir("/usr") == 0);
      check(mg_snapshot("here.mgraph") == 0);
    }

    // --- the end

    static void at_exit(void) { free((void *)kept[0]); }

    static void ends(void) {
      keep(malloc(90001));
      keep(malloc(90002));
      atexit(at_exit);
    }

    // --- the registry

    static void registry(void) {
      void *object = malloc(11001), *resource = malloc(11002), *other = malloc(11003);
      static int handle; // no block
      check(mg_register(object, "Object") == 0);
      check(mg_register(object, "Renamed") == 0);
      check(mg_register_resource(resource, "Encoder", 4096) == 0);
      check(mg_register_resource(&handle, "Handle", 77) == 0);
      check(mg_add(object, resource, "encoder") == 0);
      check(mg_add(object, resource, "encoder") == 0);
      check(mg_add(object, &handle, "handle") == 0);
      check(mg_add(resource, other, "other") == 0);
      check(mg_mark("all") == 0);
      check(mg_remove(object, resource, "encoder") == 0);
      check(mg_remove(object, resource, "decoder") == ENOENT);
      check(mg_remove(other, resource, "encoder") == ENOENT);
      check(mg_unregister(&handle) == 0);
      check(mg_unregister(&handle) == ENOENT);
      check(mg_mark("fewer") == 0);
      // Death and moving end what was said.
      object = realloc(object, 200001);
      memset(object, 0, 200001);
      check(mg_mark("moved") == 0);
      free(resource);
      free(other);
      check(mg_unregister(resource) == ENOENT);
      check(mg_mark("freed") == 0);
      check(mg_register(NULL, "x") == EINVAL && mg_register(object, NULL) == EINVAL);
      keep(object);
    }

    // Memory that is not there behind memory that is.
    static void holes(void) {
      char *pages = mmap((void *)0x200000000000, 37 * 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      check(pages == (void *)0x200000000000);
      for (int i = 0; i < 37 * 4096; i++) pages[i] = (char)(i * 7 + i / 4096);
      // A file that is shorter than its mapping.
      char name[] = "/tmp/memory-graph-test-XXXXXX";
      int file = mkstemp(name);
      check(file >= 0 && unlink(name) == 0 && ftruncate(file, 6000) == 0);
      char *mapped = mmap((void *)0x200100000000, 8 * 4096, PROT_READ,
                          MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
      check(mapped == (void *)0x200100000000);
      check(mg_mark("holes") == 0);
    }

    static void *register_much(void *argument) {
      intptr_t own = (intptr_t)argument;
      void *blocks[500];
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++) {
          blocks[i] = malloc(12000 + (size_t)own);
          check(mg_register(blocks[i], own % 2 ? "Odd" : "Even") == 0);
          if (i) check(mg_add(blocks[i - 1], blocks[i], "next") == 0);
        }
        if (round == 19) break;
        for (int i = 0; i < 500; i++) {
          if (i % 2) free(blocks[i]);
          else { check(mg_unregister(blocks[i]) == 0); free(blocks[i]); }
        }
      }
      for (int i = 0; i < 500; i++) keep(blocks[i]);
      return NULL;
    }

    static void registry_threads(void) {
      pthread_t workers[WORKERS];
      for (intptr_t i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, register_much, (void *)i);
      for (int i = 0; i < 3; i++) check(mg_mark("busy") == 0);
      for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
      check(mg_mark("quiet") == 0);
    }

    // --- stacks

    KEEP static void *innermost(size_t bytes) { void *block = malloc(bytes); return block; }
    KEEP static void *middle(size_t bytes) { void *block = innermost(bytes); return block; }
    KEEP static void recurse(int depth, size_t bytes) {
      if (depth == 0) keep(middle(bytes)); else recurse(depth - 1, bytes);
      __asm__ volatile("");
    }

    KEEP static void on_other_stack(void) { keep(innermost(13003)); }

    static ucontext_t main_context, coroutine;
    static void run_coroutine(void) { on_other_stack(); swapcontext(&coroutine, &main_context); }

    static void on_signal(int signal) { (void)signal; keep(innermost(13004)); }

    // As a library looks that was built without frame pointers: a word lies where a return address should.
    #if defined(__x86_64__)
    void *past_lost_frame(size_t bytes, uint64_t word);
    __asm__(".text\n"
            "past_lost_frame:\n"
            "  pushq %rbp\n  movq %rsp, %rbp\n"
            "  pushq %rsi\n  pushq %rbp\n  movq %rsp, %rbp\n"
            "  callq malloc@PLT\n"
            "  movq %rbp, %rsp\n  popq %rbp\n  movq %rbp, %rsp\n  popq %rbp\n  retq\n");
    #else
    static void *past_lost_frame(size_t bytes, uint64_t word) { (void)word; return malloc(bytes); }
    #endif

    static void stacks(void) {
      recurse(5, 13001);
      const uint64_t words[] = {5, UINT64_C(0x7761697420666f72), UINT64_C(1) << 55, UINT64_MAX};
      for (size_t i = 0; i < 4; i++) keep(past_lost_frame(13005 + i, words[i]));
      recurse(1000, 13002);
      // A coroutine's stack and a signal's are none that the agent knows.
      getcontext(&coroutine);
      coroutine.uc_stack.ss_sp = malloc(1 << 16);
      coroutine.uc_stack.ss_size = 1 << 16;
      makecontext(&coroutine, run_coroutine, 0);
      swapcontext(&main_context, &coroutine);
      stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
      sigaltstack(&other, NULL);
      struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
      sigaction(SIGUSR2, &action, NULL);
      raise(SIGUSR2);
      printf("innermost %p\nmiddle %p\nrecurse %p\n", (void *)innermost, (void *)middle, (void *)recurse);
      fflush(stdout);
      check(mg_mark("stacks") == 0);
    }

    // --- asked from outside

    static void ask_itself(void) {
      for (int i = 0; i < 2; i++) {
        int connection = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int bytes = snprintf(address.sun_path + 1, 100, "memory-graph/%d", getpid());
        socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
        int tries = 0;
        while (connect(connection, (struct sockaddr *)&address, length) != 0 && tries++ < 1000) usleep(1000);
        check(tries < 1000);
        const char *request = i == 0 ? "mark\t1\tfrom outside\n" : "nonsense\n";
        check(write(connection, request, strlen(request)) == (ssize_t)strlen(request));
        char answer[200] = "";
        ssize_t count = 0, got;
        while ((got = read(connection, answer + count, 199 - (size_t)count)) > 0) count += got;
        printf("%s", answer);
        close(connection);
      }
    }

    // --- linked and not started; loaded too late

    static void inert(void) {
      check(SIGRTMAX == 64);
      int count = 0;
      DIR *folder = opendir("/proc/self/task");
      while (readdir(folder)) count++;
      closedir(folder);
      check(count == 3); // two of them are . and ..
      // The agent's tables would take tens of gigabytes of address space.
      long pages = 0;
      FILE *file = fopen("/proc/self/statm", "r");
      check(fscanf(file, "%ld", &pages) == 1);
      fclose(file);
      check(pages < 100000);
    }

    static void late(const char *library) {
      void *handle = dlopen(library, RTLD_NOW);
      check(handle);
      mg_start = (int (*)(void))dlsym(handle, "memory_graph_start");
      mg_problem = (const char *(*)(void))dlsym(handle, "memory_graph_problem");
      check(mg_problem() == NULL);
      printf("%d %s\n", mg_start(), mg_problem());
    }

    // --- under memgraph run

    static void on_usr1_told(int signal) { (void)signal; write(1, "usr1\n", 5); }
    static void on_term(int signal) { (void)signal; write(1, "term\n", 5); _exit(5); }

    static int under_run(const char *mode, const char *value) {
      int number = atoi(value ? value : "0");
      printf("%s %d\n", mode, number);
      fprintf(stderr, "to standard error\n");
      fflush(stdout);
      if (strcmp(mode, "exit") == 0) exit(number);
      if (strcmp(mode, "_exit") == 0) _exit(number);
      if (strcmp(mode, "raise") == 0) raise(number);
      if (strcmp(mode, "mark-and-raise") == 0) {
        check(mg_mark("before") == 0);
        if (number) raise(number);
        _exit(0);
      }
      if (strcmp(mode, "echo") == 0) {
        for (int c; (c = getchar()) != EOF;) putchar(c);
        return 0;
      }
      if (strcmp(mode, "term") == 0) {
        signal(SIGTERM, on_term);
        signal(SIGUSR1, on_usr1_told);
        printf("pid %d\n", getpid());
        fflush(stdout);
        for (;;) pause();
      }
      if (strcmp(mode, "sleep") == 0) {
        printf("pid %d\n", getpid());
        fflush(stdout);
        usleep((useconds_t)number * 1000);
        return 0;
      }
      if (strcmp(mode, "sleep-and-leave") == 0) {
        usleep((useconds_t)number * 1000);
        _exit(0);
      }
      return 98;
    }

    int main(int count, char **arguments) {
      // Whoever started this may have all signals blocked.
      sigset_t none;
      sigemptyset(&none);
      check(sigprocmask(SIG_SETMASK, &none, NULL) == 0);
      mg_start = (int (*)(void))dlsym(RTLD_DEFAULT, "memory_graph_start");
      mg_mark = (int (*)(const char *))dlsym(RTLD_DEFAULT, "memory_graph_mark");
      mg_snapshot = (int (*)(const char *))dlsym(RTLD_DEFAULT, "memory_graph_snapshot");
      mg_register = (int (*)(const void *, const char *))dlsym(RTLD_DEFAULT, "memory_graph_register");
      mg_register_resource = (int (*)(const void *, const char *, size_t))dlsym(RTLD_DEFAULT, "memory_graph_register_resource");
      mg_unregister = (int (*)(const void *))dlsym(RTLD_DEFAULT, "memory_graph_unregister");
      mg_add = (int (*)(const void *, const void *, const char *))dlsym(RTLD_DEFAULT, "memory_graph_add_strong_edge");
      mg_remove = (int (*)(const void *, const void *, const char *))dlsym(RTLD_DEFAULT, "memory_graph_remove_strong_edge");
      mg_problem = (const char *(*)(void))dlsym(RTLD_DEFAULT, "memory_graph_problem");
      const char *mode = count > 1 ? arguments[1] : "";
      struct { const char *name; void (*function)(void); } modes[] = {
        {"family", family}, {"failures", failures}, {"generations", generations},
        {"threads", threads}, {"short_threads", short_threads}, {"masked", masked},
        {"unnoticed", unnoticed}, {"forks", forks}, {"environment", environment},
        {"unwritable", unwritable}, {"names", names}, {"ends", ends}, {"registry", registry},
        {"registry_threads", registry_threads}, {"stacks", stacks}, {"ask_itself", ask_itself},
        {"inert", inert}, {"sleeps", sleeps}, {"pauses", pauses},
        {"small_stack", small_stack}, {"odd_path", odd_path},
        {"stale_frames", stale_frames}, {"holes", holes}, {"hung_up", hung_up},
        {"few_files", few_files}, {"elsewhere", elsewhere}, {"no_proc", no_proc},
      };
      for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].name) == 0) { modes[i].function(); puts("done"); return 23; }
      }
      if (strcmp(mode, "late") == 0) { late(arguments[2]); return 0; }
      return under_run(mode, arguments[2]);
    }
    """#
}
