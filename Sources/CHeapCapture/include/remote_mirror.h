// remote_mirror.h: the part of libswiftRemoteMirror that capture uses. The toolchain ships the
// library without its headers, so what is called is declared here; the library is loaded when a
// capture begins and never linked.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// What a type or a field is in memory.
typedef enum mg_layout_kind : int32_t {
  MG_LAYOUT_UNKNOWN = 0,
  MG_LAYOUT_BUILTIN = 1,
  MG_LAYOUT_RAW_POINTER = 2,
  MG_LAYOUT_TUPLE = 3,
  MG_LAYOUT_STRUCT = 4,
  MG_LAYOUT_NO_PAYLOAD_ENUM = 5,
  MG_LAYOUT_SINGLE_PAYLOAD_ENUM = 6,
  MG_LAYOUT_MULTI_PAYLOAD_ENUM = 7,
  MG_LAYOUT_THICK_FUNCTION = 8,
  MG_LAYOUT_OPAQUE_EXISTENTIAL = 9,
  MG_LAYOUT_CLASS_EXISTENTIAL = 10,
  MG_LAYOUT_ERROR_EXISTENTIAL = 11,
  MG_LAYOUT_EXISTENTIAL_METATYPE = 12,
  MG_LAYOUT_STRONG = 13,
  MG_LAYOUT_UNOWNED = 14,
  MG_LAYOUT_WEAK = 15,
  MG_LAYOUT_UNMANAGED = 16,
  MG_LAYOUT_CLASS_INSTANCE = 17,
  MG_LAYOUT_CLOSURE_CONTEXT = 18,
  MG_LAYOUT_ARRAY = 19,
} mg_layout_kind;

/// A type that the mirror knows: opaque, owned by its context, 0 for none.
typedef uint64_t mg_type_ref;

/// The layout of a value or an instance; sizes in bytes.
typedef struct mg_type_info {
  int32_t kind;
  uint32_t size;
  uint32_t alignment;
  uint32_t stride;
  uint32_t field_count;
} mg_type_info;

/// A field, a capture or an enum case; the name belongs to the context.
typedef struct mg_child_info {
  const char *name;
  uint32_t offset;
  int32_t kind;
  mg_type_ref type;
} mg_child_info;

/// A section of an image: where its bytes are here, and where they are in the target.
typedef struct mg_section {
  const void *local_begin;
  const void *local_end;
  uint64_t target_begin;
  uint64_t size;
} mg_section;

/// The reflection sections of an image; all zero for a section that it does not have.
typedef struct mg_reflection_sections {
  mg_section fields;           // swift5_fieldmd
  mg_section associated_types; // swift5_assocty
  mg_section builtins;         // swift5_builtin
  mg_section captures;         // swift5_capture
  mg_section type_references;  // swift5_typeref
  mg_section strings;          // swift5_reflstr
} mg_reflection_sections;

/// What the mirror asks about the target before anything else.
typedef enum mg_layout_query : int32_t {
  MG_QUERY_POINTER_SIZE = 0,
  MG_QUERY_SIZE_SIZE = 1,
  MG_QUERY_POINTER_AUTHENTICATION_MASK = 2,
  MG_QUERY_OBJC_RESERVED_LOW_BITS = 3,
  MG_QUERY_LEAST_VALID_POINTER = 4,
  MG_QUERY_OBJC_INTEROP = 5,
} mg_layout_query;

typedef int (*mg_query_function)(void *reader, int32_t query, void *in, void *out);
typedef void (*mg_free_function)(void *reader, const void *bytes, void *context);
typedef const void *(*mg_read_function)(void *reader, uint64_t address, uint64_t size,
                                        void **context);
typedef uint64_t (*mg_string_length_function)(void *reader, uint64_t address);
typedef uint64_t (*mg_symbol_function)(void *reader, const char *name, uint64_t length);

/// The functions of the loaded library.
typedef struct mg_mirror {
  void *(*create)(void *reader, mg_query_function, mg_free_function, mg_read_function,
                  mg_string_length_function, mg_symbol_function);
  void (*destroy)(void *context);
  uint32_t (*add_sections)(void *context, mg_reflection_sections sections);
  mg_type_ref (*type_for_metadata)(void *context, uintptr_t metadata);
  mg_type_ref (*type_for_mangled_name)(void *context, const char *name, uint64_t length);
  mg_type_info (*info_for_metadata)(void *context, uintptr_t metadata);
  mg_child_info (*child_of_metadata)(void *context, uintptr_t metadata, unsigned index);
  mg_type_info (*info_for_instance)(void *context, uintptr_t object);
  mg_child_info (*child_of_instance)(void *context, uintptr_t object, unsigned index);
  mg_type_info (*info_for_type)(void *context, mg_type_ref type);
  mg_child_info (*child_of_type)(void *context, mg_type_ref type, unsigned index);
  unsigned (*generic_argument_count)(mg_type_ref type);
  mg_type_ref (*generic_argument)(mg_type_ref type, unsigned index);
  char *(*copy_demangled_name)(void *context, mg_type_ref type);
  int (*project_enum)(void *context, uint64_t address, mg_type_ref type, int *case_index);
} mg_mirror;

/// Loads the library from a path, or by name along the loader's path.
///
/// Returns false where it can't be loaded or lacks a function; `reason` then holds a sentence. The
/// library stays loaded.
bool mg_mirror_load(const char *path, mg_mirror *mirror, char *reason, unsigned reason_size);

/// The library's functions, each under the guard: where the library gives up on what it reads and calls `abort`,
/// as its demangler does with a damaged name, or reads an address that is not there, or its calls fill the
/// stack, the answer is all zeros and `mg_mirror_failures` counts it. What the library had allocated for the
/// question is lost. Signals of other threads, and of this one outside a question, are as without the guard.
void *mg_mirror_create(const mg_mirror *, void *reader, mg_query_function, mg_free_function,
                       mg_read_function, mg_string_length_function, mg_symbol_function);
uint32_t mg_mirror_add_sections(const mg_mirror *, void *context, const mg_reflection_sections *);
unsigned mg_mirror_generic_argument_count(const mg_mirror *, mg_type_ref type);
mg_type_ref mg_mirror_generic_argument(const mg_mirror *, mg_type_ref type, unsigned index);

/// Frees a context, unless a question has been left in the middle: then what it would take apart may be half done.
///
/// - failures_before: what `mg_mirror_failures` was when the context was made.
void mg_mirror_destroy(const mg_mirror *, void *context, uint64_t failures_before);
mg_type_ref mg_mirror_type_for_metadata(const mg_mirror *, void *context, uintptr_t metadata);
mg_type_ref mg_mirror_type_for_mangled_name(const mg_mirror *, void *context, const char *name,
                                            uint64_t length);
mg_type_info mg_mirror_info_for_metadata(const mg_mirror *, void *context, uintptr_t metadata);
mg_child_info mg_mirror_child_of_metadata(const mg_mirror *, void *context, uintptr_t metadata,
                                          unsigned index);
mg_type_info mg_mirror_info_for_instance(const mg_mirror *, void *context, uintptr_t object);
mg_child_info mg_mirror_child_of_instance(const mg_mirror *, void *context, uintptr_t object,
                                          unsigned index);
mg_type_info mg_mirror_info_for_type(const mg_mirror *, void *context, mg_type_ref type);
mg_child_info mg_mirror_child_of_type(const mg_mirror *, void *context, mg_type_ref type,
                                      unsigned index);
char *mg_mirror_copy_demangled_name(const mg_mirror *, void *context, mg_type_ref type);
int mg_mirror_project_enum(const mg_mirror *, void *context, uint64_t address, mg_type_ref type,
                           int *case_index);

/// How often the library has given up on this thread since it was loaded first.
uint64_t mg_mirror_failures(void);

/// The path of the library or executable that holds an address of this process; null for none.
const char *mg_path_of_code(const void *address);

/// The path of the library or executable that this process has its Swift runtime from.
const char *mg_path_of_swift_runtime(void);
