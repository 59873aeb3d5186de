// channel.c: the agent's side of the conversation with a reader (docs/architecture.md has the
// lines).
//
// System calls alone: no cancellation point, no errno, no allocation in the program.

#define _GNU_SOURCE
#include "mg_agent.h"
#include "mg_sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_LINE = 8192 };

/// The reader of a program that links the Swift agent: serves the channel that a descriptor leads
/// to and returns the exit status. MemoryGraphAgent defines it.
__attribute__((weak)) int mg_reader_main(int channel);

// --- lines -------------------------------------------------------------------------------------

typedef struct line {
  char text[MAX_LINE];
  size_t count;
} line;

static void append(line *to, const char *text) {
  size_t bytes = strlen(text);
  if (bytes > MAX_LINE - to->count)
    bytes = MAX_LINE - to->count;
  memcpy(to->text + to->count, text, bytes);
  to->count += bytes;
}

static void append_number(line *to, uint64_t number, unsigned base) {
  char digits[32];
  size_t at = sizeof digits;
  digits[--at] = 0;
  do
    digits[--at] = "0123456789abcdef"[number % base];
  while (number /= base);
  append(to, digits + at);
}

static int send_line(int channel, const line *from) {
  for (size_t done = 0; done < from->count;) {
    long count = mg_sys6(SYS_sendto, channel, (long)(from->text + done), (long)(from->count - done),
                         MSG_NOSIGNAL, 0, 0);
    if (count == -EINTR)
      continue;
    if (count < 0)
      return (int)-count;
    done += (size_t)count;
  }
  return 0;
}

// Sends a line, and with its newline a descriptor; -1 for none. With the newline, because who looks at a
// message without taking it sees nothing behind the byte that a descriptor comes with.
static int send_line_with(int channel, line *from, int descriptor) {
  if (descriptor < 0)
    return send_line(channel, from);
  from->count -= 1;
  int error = send_line(channel, from);
  if (error)
    return error;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.bytes = {0}};
  struct iovec part = {from->text + from->count, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  long count;
  do
    count = mg_sys3(SYS_sendmsg, channel, &message, MSG_NOSIGNAL);
  while (count == -EINTR);
  return count < 0 ? (int)-count : 0;
}

// Reads up to a newline, which is left out. EPIPE: the other side went away first.
static int receive_line(int channel, line *to) {
  to->count = 0;
  while (to->count < MAX_LINE - 1) {
    long count = mg_sys6(SYS_recvfrom, channel, (long)(to->text + to->count),
                         (long)(MAX_LINE - 1 - to->count), 0, 0, 0);
    if (count == -EINTR)
      continue;
    if (count < 0)
      return (int)-count;
    if (count == 0)
      return EPIPE;
    char *end = memchr(to->text + to->count, '\n', (size_t)count);
    to->count += (size_t)count;
    if (end) {
      *end = 0;
      return 0;
    }
  }
  return EMSGSIZE;
}

// --- connections -------------------------------------------------------------------------------

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  long channel = mg_sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (channel < 0)
    return (int)channel;
  long result;
  do
    result = mg_sys3(SYS_connect, channel, &address, sizeof address);
  while (result == -EINTR);
  if (result < 0) {
    mg_sys1(SYS_close, channel);
    return (int)result;
  }
  return (int)channel;
}

void mg_channel_hello(void) {
  int channel = mg_config.channel ? connect_to(mg_config.channel) : -1;
  if (channel < 0)
    return;
  char program[4096];
  long bytes = mg_sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1);
  program[bytes > 0 ? bytes : 0] = 0;
  line hello = {.count = 0};
  append(&hello, "hello\t1\t");
  append_number(&hello, mg_pid(), 10);
  append(&hello, "\t");
  append(&hello, program);
  append(&hello, "\n");
  send_line(channel, &hello);
  mg_sys1(SYS_close, channel);
}

// The memgraph tool beside the preloaded library; false where it is not there.
static bool find_tool(char *path, size_t room) {
  Dl_info info;
  if (!dladdr(&mg_state, &info) || !info.dli_fname)
    return false;
  const char *slash = strrchr(info.dli_fname, '/');
  size_t bytes = slash ? (size_t)(slash - info.dli_fname) + 1 : 0;
  if (bytes + sizeof "memgraph" > room)
    return false;
  memcpy(path, info.dli_fname, bytes);
  memcpy(path + bytes, "memgraph", sizeof "memgraph");
  return mg_sys3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
}

static char tool_path[4096];
static char channel_text[48];

// Which reader it is, and how it is started. The twin's end of the channel is in the plan.
static int plan_reader(mg_twin_plan *plan) {
  static const char *arguments[4];
  static const char *environment[4096];
  line number = {.count = 0};
  append_number(&number, (uint64_t)plan->channel, 10);
  number.text[number.count] = 0;
  size_t count = 0;
  if (mg_is_linked() && mg_reader_main) {
    plan->reader = "/proc/self/exe";
    arguments[0] = plan->reader;
    arguments[1] = NULL;
    strcpy(channel_text, "MEMORY_GRAPH_READER=");
    strcat(channel_text, number.text);
    environment[count++] = channel_text;
  } else if (find_tool(tool_path, sizeof tool_path)) {
    plan->reader = tool_path;
    strcpy(channel_text, number.text);
    arguments[0] = tool_path;
    arguments[1] = "read-twin";
    arguments[2] = channel_text;
    arguments[3] = NULL;
  } else {
    return ENOENT;
  }
  // The program's environment, without what would make an agent of the reader.
  for (char **entry = environ; entry && *entry && count < 4095; entry++) {
    if (strncmp(*entry, "MEMORY_GRAPH_", 13) != 0 && strncmp(*entry, "LD_PRELOAD=", 11) != 0)
      environment[count++] = *entry;
  }
  environment[count] = NULL;
  plan->arguments = arguments;
  plan->environment = environment;
  return 0;
}

// --- snapshots ---------------------------------------------------------------------------------

// What the reader answered, as an errno.
static int parse_answer(char *answer, const char *path) {
  if (strcmp(answer, "ok") == 0)
    return 0;
  int error = EIO;
  const char *sentence = "the reader gave no reason";
  if (strncmp(answer, "error\t", 6) == 0) {
    error = 0;
    char *c = answer + 6;
    for (; *c >= '0' && *c <= '9'; c++)
      error = error * 10 + (*c - '0');
    if (*c == '\t')
      sentence = c + 1;
    if (error <= 0 || error > 4095)
      error = EIO;
  }
  mg_complain((unsigned)error, path, sentence);
  return error;
}

// `memory` is the reader's end of the socket at which the twin serves its memory; -1 for none.
static int converse(int channel, int twin, int memory, const char *path) {
  // Not on the stack, which may be a small one; one mark is taken at a time.
  static line request, answer;
  request.count = 0;
  append(&request, "snapshot\t1\t");
  append_number(&request, mg_state.pid, 10);
  append(&request, "\t");
  append_number(&request, (uint64_t)twin, 10);
  append(&request, "\t");
  append_number(&request, (uintptr_t)&mg_state, 16);
  append(&request, "\t");
  append(&request, path);
  append(&request, "\n");
  int error = send_line_with(channel, &request, memory);
  // The reader's alone from here on: its end is the end of the twin's service.
  if (memory >= 0)
    mg_sys1(SYS_close, memory);
  if (!error)
    error = receive_line(channel, &answer);
  if (error) {
    mg_complain((unsigned)error, path,
                "the process that was to write the snapshot ended before it was done");
    return error;
  }
  return parse_answer(answer.text, path);
}

static const char no_descriptor_left[] =
    "the program has no file descriptor left to ask for it; raise its limit (ulimit -n)";

// Why there is no way to a reader.
static const char *reason_of_no_channel(int error) {
  switch (error) {
  case EMFILE:
  case ENFILE:
    return no_descriptor_left;
  case EACCES:
  case EPERM:
    return "the program may not reach memgraph run, which was to write it: it runs as another user "
           "now";
  case ENOENT:
  case ECONNREFUSED:
    return "memgraph run, which was to write it, is gone";
  default:
    return "memgraph run, which was to write it, can't be reached";
  }
}

// The two ends of the channel to a reader. 0 or an errno, which has been told.
static int open_channel(mg_twin_plan *plan, int *channel, const char *path) {
  int error = 0;
  if (mg_config.channel) {
    *channel = connect_to(mg_config.channel);
    error = *channel < 0 ? -*channel : 0;
  } else {
    int ends[2];
    error = (int)-mg_sys4(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    if (!error) {
      *channel = ends[0];
      plan->channel = ends[1];
    }
  }
  if (error) {
    mg_complain((unsigned)error, path, reason_of_no_channel(error));
    return error;
  }
  if (mg_config.channel || !(error = plan_reader(plan)))
    return 0;
  mg_complain((unsigned)error, path,
              "there is no memgraph tool beside the preloaded library to write it");
  mg_sys1(SYS_close, *channel);
  mg_sys1(SYS_close, plan->channel);
  return error;
}

int mg_channel_snapshot(const char *path) {
  if (strpbrk(path, "\t\n"))
    return EINVAL; // the request could not say it
  mg_twin_plan plan = {.channel = -1, .memory = -1};
  int channel = -1, memory = -1;
  int error = open_channel(&plan, &channel, path);
  if (error)
    return error;
  // Without it the reader has the kernel's ways alone.
  int ends[2];
  if (mg_sys4(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
    plan.memory = ends[0];
    memory = ends[1];
  }
  int twin = mg_twin_make(&plan);
  if (twin == -EMFILE && memory >= 0) {
    // The list of threads needs one descriptor, of which there are none to spare.
    mg_sys1(SYS_close, plan.memory);
    mg_sys1(SYS_close, memory);
    plan.memory = memory = -1;
    twin = mg_twin_make(&plan);
  }
  if (plan.channel >= 0)
    mg_sys1(SYS_close, plan.channel);
  if (plan.memory >= 0)
    mg_sys1(SYS_close, plan.memory);
  if (twin > 0) {
    error = converse(channel, twin, memory, path);
    mg_twin_end(twin);
  } else {
    error = -twin;
    mg_complain((unsigned)error, path,
                error == ENOENT ? "the process can't be copied: /proc is not there"
                : error == EMFILE || error == ENFILE ? no_descriptor_left
                                                     : "the process can't be copied");
    if (memory >= 0)
      mg_sys1(SYS_close, memory);
  }
  mg_sys1(SYS_close, channel);
  return error;
}

// --- the executed-again program ----------------------------------------------------------------

// After the constructors of the Swift runtime, before main.
__attribute__((constructor)) static void become_reader(void) {
  const char *text = mg_reader_channel;
  if (!text || !mg_reader_main)
    return;
  int channel = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    channel = channel * 10 + (*text - '0');
  _exit(mg_reader_main(channel));
}
