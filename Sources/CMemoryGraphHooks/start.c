// start.c: whether the agent works in this process, and its beginning, its end and its forks.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

mg_settings mg_config;
const char *mg_reader_channel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_prepared;
static const char *problem;
static bool is_initialised; // libc and all libraries are

const char *mg_problem(void) {
  return problem;
}

bool mg_refuses_samples(void) {
  if (mg_config.sample_interval && !problem)
    problem = "only samples of the allocations are recorded (MEMORY_GRAPH_SAMPLE), and a check "
              "needs all of "
              "them; unset it";
  return mg_config.sample_interval != 0;
}

bool mg_is_here(void) {
  return mg_state.pid == mg_pid();
}

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

bool mg_is_linked(void) {
  uintptr_t own = (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff;
  return own == getauxval(AT_PHDR);
}

void mg_complain(unsigned cause, const char *what, const char *why) {
  static _Atomic uint64_t said[16];
  unsigned bit = cause % (16 * 64);
  if (atomic_fetch_or(&said[bit / 64], UINT64_C(1) << bit % 64) >> bit % 64 & 1)
    return;
  char text[1024];
  size_t count = 0;
  const char *parts[] = {"memory-graph: ", what, ": ", why, "\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (const char *c = parts[i]; *c && count < sizeof text; c++) {
      unsigned char byte = (unsigned char)*c, next = (unsigned char)c[1];
      // A path may have in it what a terminal obeys: control characters, those above ASCII, too.
      bool is_control = byte == 0x7f || (byte < ' ' && byte != '\n') ||
                        (byte == 0xc2 && next >= 0x80 && next < 0xa0);
      text[count++] = is_control ? '?' : *c;
      if (is_control && byte == 0xc2)
        c++;
    }
  mg_sys3(SYS_write, 2, text, count);
}

// --- forks -------------------------------------------------------------------------------------

// A fork has a copy of the tables, and locks that nobody holds any more: it is left alone.
static void be_inert_in_child(void) {
  mg_tracking = 0;
  mg_watching = 0;
}

// --- the tables --------------------------------------------------------------------------------

static uint64_t random_identity(void) {
  uint64_t identity = 0;
  if (mg_sys3(SYS_getrandom, &identity, sizeof identity, 0) != sizeof identity || !identity)
    identity = mg_clock(CLOCK_BOOTTIME) ^ (uint64_t)mg_pid() << 40;
  return identity;
}

static int prepare_locked(void) {
  if (is_prepared)
    return 0;
  if (problem)
    return ENOTSUP;
  if (!mg_table_start() || !mg_stacks_start(mg_config.stacks) || !mg_registry_start() ||
      !mg_threads_start() || !mg_marks_start() ||
      (mg_config.sample_interval && !mg_samples_start())) {
    problem = "there is no memory, or no address space, for the agent's tables";
    return ENOTSUP;
  }
  pthread_atfork(NULL, NULL, be_inert_in_child);
  mg_state.pid = mg_pid();
  mg_state.run_identity = random_identity();
  mg_state.blocks = mg_config.blocks;
  mg_state.contents = mg_config.contents;
  mg_state.size = sizeof mg_state;
  mg_state.sample_interval = mg_config.sample_interval;
  mg_state.version = mg_config.sample_interval ? MG_LAYOUT_VERSION_SAMPLED : MG_LAYOUT_VERSION;
  __atomic_store_n(&mg_state.magic, MG_STATE_MAGIC, __ATOMIC_RELEASE);
  is_prepared = true;
  __atomic_store_n(&mg_watching, mg_config.sample_interval ? MG_WATCHING_SAMPLES : MG_WATCHING_ALL,
                   __ATOMIC_RELEASE);
  return 0;
}

int mg_prepare(void) {
  // In a fork the lock may be held by a thread that is not there.
  if (mg_state.pid && !mg_is_here())
    return ENOTSUP;
  mg_thread.busy++;
  pthread_mutex_lock(&lock);
  int error = prepare_locked();
  pthread_mutex_unlock(&lock);
  mg_thread.busy--;
  return error;
}

static void describe_interposition(void) {
#if MG_IS_SANITIZED
  problem = "this build has a sanitizer in it, whose allocator must come first; record in a build "
            "without --sanitize";
  return;
#endif
  Dl_info info;
  void *found = dlsym(RTLD_DEFAULT, "malloc");
  if (!found || !dladdr(found, &info) || !info.dli_fname) {
    problem = "the allocator's functions can't be interposed in this program";
    return;
  }
  const char *name = strrchr(info.dli_fname, '/');
  if (strstr(name ? name : info.dli_fname, "libc.so"))
    problem =
        "the agent was loaded after the program had begun (dlopen), so libc's allocator is in "
        "use already; link the agent into the executable or preload it";
  else
    problem = "the program has an allocator of its own before the agent's functions; run it with "
              "glibc's allocator";
}

int mg_start(void) {
  int error = mg_prepare();
  if (error || mg_tracking)
    return error;
  pthread_mutex_lock(&lock);
  if (!mg_tracking) {
    __atomic_store_n(&mg_tracking, 1, __ATOMIC_RELEASE);
    if (mg_interposition_works()) {
      mg_state.tracking = 1;
      // What it takes to begin, some two megabytes, is no part of it.
      mg_memory_budget(mg_config.table_bytes);
    } else {
      mg_tracking = 0;
      describe_interposition();
      error = ENOTSUP;
    }
  }
  pthread_mutex_unlock(&lock);
  if (!error && is_initialised)
    mg_stacks_load_unwinder();
  return error;
}

// --- the environment ---------------------------------------------------------------------------

static const char *value_of(char **environment, const char *name) {
  size_t bytes = strlen(name);
  for (char **entry = environment; entry && *entry; entry++)
    if (strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=')
      return *entry + bytes + 1;
  return NULL;
}

static bool equals(const char *text, const char *word) {
  return text && strcmp(text, word) == 0;
}

// A number of bytes, as 512K or 524288; 0 for none, and for what is no number.
static uint64_t number_of(const char *text) {
  uint64_t number = 0;
  for (; text && *text; text++) {
    const char *units = "KMGkmg";
    const char *unit = strchr(units, *text);
    if (unit && !text[1] && number <= UINT64_MAX >> 30)
      return number << 10 * ((unit - units) % 3 + 1);
    if (*text < '0' || *text > '9' || number > UINT64_MAX / 10 - 10)
      return 0;
    number = number * 10 + (uint64_t)(*text - '0');
  }
  return number;
}

static const char *absolute_folder(const char *folder) {
  if (!folder || !*folder)
    return NULL;
  char path[8192];
  size_t count = 0;
  if (folder[0] != '/') {
    long bytes = mg_sys2(SYS_getcwd, path, 4096);
    if (bytes <= 0)
      return NULL;
    count = (size_t)bytes;
    path[count - 1] = '/';
  }
  size_t bytes = strlen(folder);
  while (bytes > 1 && folder[bytes - 1] == '/')
    bytes--;
  if (count + bytes + 1 > sizeof path)
    return NULL;
  memcpy(path + count, folder, bytes);
  path[count + bytes] = 0;
  return mg_keep_text(path);
}

static void read_settings(char **environment) {
  const char *stacks = value_of(environment, "MEMORY_GRAPH_STACKS");
  mg_config.stacks = equals(stacks, "none")   ? MG_STACKS_NONE
                     : equals(stacks, "full") ? MG_STACKS_FULL
                                              : MG_STACKS_FAST;
  mg_config.blocks = equals(value_of(environment, "MEMORY_GRAPH_BLOCKS"), "swift");
  mg_config.contents = equals(value_of(environment, "MEMORY_GRAPH_CONTENTS"), "keys");
  mg_config.at_exit = equals(value_of(environment, "MEMORY_GRAPH_AT_EXIT"), "1");
  mg_config.table_bytes = number_of(value_of(environment, "MEMORY_GRAPH_TABLE_BYTES"));
  const char *sample = value_of(environment, "MEMORY_GRAPH_SAMPLE");
  uint64_t interval = number_of(sample);
  if (sample && *sample && (!interval || interval > UINT32_MAX))
    mg_complain(MG_CAUSE_NO_SIZE, "sampling as MEMORY_GRAPH_SAMPLE says",
                interval ? "it is more than 4G, which is taken"
                         : "it is no size, as 512K is; each allocation is recorded");
  mg_config.sample_interval = interval < UINT32_MAX ? (uint32_t)interval : UINT32_MAX;
  const char *folder = value_of(environment, "MEMORY_GRAPH_OUT");
  const char *channel = value_of(environment, "MEMORY_GRAPH_CHANNEL");
  if (folder && *folder)
    mg_config.folder = absolute_folder(folder);
  if (channel && *channel)
    mg_config.channel = mg_keep_text(channel);
}

static bool is_of_checks(const char *entry) {
  return strncmp(entry, "MEMORY_GRAPH_KNOWN=", 19) == 0 ||
         strncmp(entry, "MEMORY_GRAPH_FAILURES=", 22) == 0;
}

// Takes the agent's variables out, and its library out of LD_PRELOAD: programs that this one starts
// run as they do alone. What leak checks read stays: they are the program's. In place, so that main's own pointer
// sees it too.
static void clean_environment(char **environment) {
  char **kept = environment;
  for (char **entry = environment; *entry; entry++) {
    if (strncmp(*entry, "MEMORY_GRAPH_", 13) == 0 && !is_of_checks(*entry))
      continue;
    if (strncmp(*entry, "LD_PRELOAD=", 11) == 0) {
      char *to = *entry + 11;
      bool is_first = true;
      for (char *from = to, *end; *from; from = end + (*end != 0)) {
        end = from + strcspn(from, ": ");
        const char *library = "libMemoryGraphPreload.so";
        size_t bytes = (size_t)(end - from), own = strlen(library);
        bool is_own = bytes >= own && strncmp(end - own, library, own) == 0;
        bool ends = *end == 0;
        if (!is_own && bytes) {
          if (!is_first)
            *to++ = ':';
          memmove(to, from, bytes);
          to += bytes;
          is_first = false;
        }
        if (ends)
          break;
      }
      *to = 0;
      if (is_first)
        continue;
    }
    *kept++ = *entry;
  }
  *kept = NULL;
}

// --- is it Swift? ------------------------------------------------------------------------------

static int is_swift_core(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  return info->dlpi_name && strstr(info->dlpi_name, "/libswiftCore.so") != NULL;
}

// A static Swift runtime: the executable has sections that only Swift makes.
static bool executable_has_swift_sections(bool *is_readable) {
  long file = mg_sys4(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0)
    return false;
  *is_readable = true;
  bool found = false;
  ElfW(Ehdr) header;
  ElfW(Shdr) names;
  if (mg_sys4(SYS_pread64, file, &header, sizeof header, 0) == sizeof header && header.e_shoff &&
      header.e_shstrndx != SHN_UNDEF &&
      mg_sys4(SYS_pread64, file, &names, sizeof names,
              header.e_shoff + (uint64_t)header.e_shstrndx * sizeof names) == sizeof names) {
    char text[4097];
    // Pieces overlap by the length of the word.
    for (uint64_t at = 0; at < names.sh_size && !found; at += 4096 - 8) {
      uint64_t wanted = names.sh_size - at < 4096 ? names.sh_size - at : 4096;
      if (mg_sys4(SYS_pread64, file, text, wanted, names.sh_offset + at) != (long)wanted)
        break;
      found = memmem(text, wanted, "swift5_", 7) != NULL;
    }
  }
  mg_sys1(SYS_close, file);
  return found;
}

// The same of an executable that may be run, but not read: a static runtime has the names of its
// variables of the environment among its constants.
static int has_swift_constants(struct dl_phdr_info *info, size_t size, void *unused) {
  static const char name[] = "SWIFT_DEBUG_ENABLE_METADATA";
  (void)size;
  (void)unused;
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_R &&
        memmem((const char *)info->dlpi_addr + segment->p_vaddr, segment->p_filesz, name,
               sizeof name - 1))
      return 1;
  }
  // The executable comes first; what follows are libraries, whose files can be read.
  return -1;
}

static bool is_swift_program(void) {
  if (dl_iterate_phdr(is_swift_core, NULL))
    return true;
  bool is_readable = false;
  return executable_has_swift_sections(&is_readable) ||
         (!is_readable && dl_iterate_phdr(has_swift_constants, NULL) > 0);
}

// --- the beginning -----------------------------------------------------------------------------

// The executable's own agent, where it has one.
static const mg_api *executable_agent(void) {
  void *found = dlsym(RTLD_DEFAULT, "posix_memalign");
  void *answer = NULL;
  int (*function)(void **, size_t, size_t) = (int (*)(void **, size_t, size_t))found;
  if (!function ||
      function(&answer, MG_HANDSHAKE_ALIGNMENT, MG_HANDSHAKE_SIZE) != MG_HANDSHAKE_ANSWER)
    return NULL;
  const mg_api *api = answer;
  return api && api != &mg_own_api && api->magic == MG_STATE_MAGIC ? api : NULL;
}

static void take_exit_snapshot(void) {
  if (mg_is_here())
    mg_mark_end("exit");
}

// First of all constructors, so that blocks of the others are known, and so that of all that is to
// be done at exit the snapshot comes last.
__attribute__((constructor(101))) static void begin(int count, char **arguments,
                                                    char **environment) {
  (void)count;
  (void)arguments;
  mg_threads_remember_main();
  mg_waits_start();
  is_initialised = mg_is_linked();
  if (mg_is_linked()) {
    mg_reader_channel = value_of(environment, "MEMORY_GRAPH_READER");
    if (mg_reader_channel)
      return;
  } else {
    mg_other_api = executable_agent();
    // A shell that runs a script is no Swift program, and the agent is meant for what it starts.
    if (mg_other_api || !is_swift_program())
      return;
  }
  read_settings(environment);
  mg_marks_set_folder(mg_config.folder);
  if (!mg_config.folder && !mg_config.channel)
    return;
  if (mg_config.at_exit)
    atexit(take_exit_snapshot);
  int error = mg_start();
  mg_state.is_complete = !error && !mg_is_linked();
  if (mg_config.channel)
    clean_environment(environment);
  if (error) {
    mg_complain((unsigned)error, "no recording", problem ? problem : "the agent can't work here");
    return;
  }
  mg_channel_hello();
  // A preloaded copy is the first of all to be initialised, libc included: what needs libc comes later.
  if (mg_is_linked())
    mg_main_begins();
}

void mg_main_begins(void) {
  is_initialised = true;
  if (!mg_state.tracking)
    return;
  mg_stacks_load_unwinder();
  mg_listener_start();
}
