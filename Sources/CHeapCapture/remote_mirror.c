#define _GNU_SOURCE
#include "remote_mirror.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

_Static_assert(sizeof(mg_type_info) == 20, "the mirror returns five 32-bit numbers");
_Static_assert(sizeof(mg_child_info) == 24, "the mirror returns a name, two numbers and a type");
_Static_assert(sizeof(mg_section) == 32, "the mirror takes two local and two target words");
_Static_assert(sizeof(mg_reflection_sections) == 192, "the mirror takes six sections");

/// The library's functions, in the order of their places in mg_mirror.
static const struct {
  const char *name;
  size_t offset;
} functions[] = {
    {"swift_reflection_createReflectionContextWithDataLayout", offsetof(mg_mirror, create)},
    {"swift_reflection_destroyReflectionContext", offsetof(mg_mirror, destroy)},
    {"swift_reflection_addReflectionMappingInfo", offsetof(mg_mirror, add_sections)},
    {"swift_reflection_typeRefForMetadata", offsetof(mg_mirror, type_for_metadata)},
    {"swift_reflection_typeRefForMangledTypeName", offsetof(mg_mirror, type_for_mangled_name)},
    {"swift_reflection_infoForMetadata", offsetof(mg_mirror, info_for_metadata)},
    {"swift_reflection_childOfMetadata", offsetof(mg_mirror, child_of_metadata)},
    {"swift_reflection_infoForInstance", offsetof(mg_mirror, info_for_instance)},
    {"swift_reflection_childOfInstance", offsetof(mg_mirror, child_of_instance)},
    {"swift_reflection_infoForTypeRef", offsetof(mg_mirror, info_for_type)},
    {"swift_reflection_childOfTypeRef", offsetof(mg_mirror, child_of_type)},
    {"swift_reflection_genericArgumentCountOfTypeRef", offsetof(mg_mirror, generic_argument_count)},
    {"swift_reflection_genericArgumentOfTypeRef", offsetof(mg_mirror, generic_argument)},
    {"swift_reflection_copyDemangledNameForTypeRef", offsetof(mg_mirror, copy_demangled_name)},
    {"swift_reflection_projectEnumValue", offsetof(mg_mirror, project_enum)},
};

bool mg_mirror_load(const char *path, mg_mirror *mirror, char *reason, unsigned reason_size) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    const char *error = dlerror();
    snprintf(reason, reason_size, "%s", error != NULL ? error : "it can't be loaded");
    return false;
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) {
      snprintf(reason, reason_size, "%s has no %s", path, functions[i].name);
      dlclose(library);
      return false;
    }
    *(void **)((char *)mirror + functions[i].offset) = function;
  }
  return true;
}

const char *mg_path_of_code(const void *address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

const char *mg_path_of_swift_runtime(void) {
  const void *retain = dlsym(RTLD_DEFAULT, "swift_retain");
  return retain != NULL ? mg_path_of_code(retain) : NULL;
}
