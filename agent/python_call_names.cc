// SPDX-License-Identifier: Apache-2.0
//
// The names of called functions. They are read from the interpreter's objects in memory, so no code
// of the program runs. The offsets are valid for builds with a GIL and without Py_TRACE_REFS.
#include <string.h>

#include "agent/python_call_tree.h"
#include "traces/library_paths.h"

namespace penstock::agent {
namespace {

constexpr uint32_t kMostName = 256;

template <class T>
T FieldOf(const PyHandle* object, size_t offset) {
  T value;
  memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}
const char* TypeName(const PyHandle* type) {
  const char* name = FieldOf<const char*>(type, 24);
  return name != nullptr ? name : "?";
}
const char* MethodName(const PyHandle* method) {  // PyMethodDef::ml_name
  const char* name = method != nullptr ? FieldOf<const char*>(method, 0) : nullptr;
  return name != nullptr ? name : "?";
}

// Whether objects of this type are laid out as PyCFunctionObject: m_ml, m_self, m_module.
bool IsBuiltinType(const PyHandle* type) {
  return type == g_unit.api.builtin_type || type == g_unit.api.builtin_method_type;
}

// Whether this is a type of functions that Cython compiled. Each version of Cython makes its own
// type.
bool IsCythonType(const PyHandle* type) {
  const char* name = TypeName(type);
  const char* dot = strrchr(name, '.');
  return strcmp(dot != nullptr ? dot + 1 : name, "cython_function_or_method") == 0;
}

// Cuts the text after kMostName bytes.
void Append(char* text, size_t* size, const char* more, size_t length) {
  const size_t room = kMostName - *size;
  const size_t taken = length < room ? length : room;
  memcpy(text + *size, more, taken);
  *size += taken;
}

// Appends an attribute whose value is a text. Requires: reading it runs no code of the program.
bool AppendAttribute(char* text, size_t* size, const PyHandle* object, const char* name) {
  PyHandle* value = g_unit.api.attribute(const_cast<PyHandle*>(object), name);
  intptr_t length = 0;
  const char* known = value != nullptr ? g_unit.api.as_text(value, &length) : nullptr;
  if (known != nullptr) {
    Append(text, size, known, static_cast<size_t>(length));
  } else {
    g_unit.api.clear_error();
  }
  if (value != nullptr) {
    g_unit.api.release(value);
  }
  return known != nullptr;
}

}  // namespace

PyHandle* FunctionOf(PyHandle* callable) {
  const bool bound =
      TypeOf(callable) == g_unit.api.method_type;  // PyMethodObject: im_func, im_self
  return bound ? FieldOf<PyHandle*>(callable, 16) : callable;
}

uint64_t NameOfBuiltin(const PyHandle* callable) {
  char text[kMostName];
  size_t size = 0;
  const auto add = [&](const char* more) { Append(text, &size, more, strlen(more)); };
  const PyHandle* type = TypeOf(callable);
  if (IsBuiltinType(type)) {
    const auto* self = FieldOf<PyHandle*>(callable, 24);
    auto* module = FieldOf<PyHandle*>(callable, 32);
    intptr_t length = 0;
    const char* name = module != nullptr ? g_unit.api.as_text(module, &length) : nullptr;
    if (name != nullptr && length > 0) {
      if (length != 8 || memcmp(name, "builtins", 8) != 0) {
        Append(text, &size, name, static_cast<size_t>(length));
        add(".");
      }
    } else {
      g_unit.api.clear_error();
      if (self != nullptr) {
        const bool is_type = TypeOf(self) == g_unit.api.type_type;
        add(TypeName(is_type ? self : TypeOf(self)));
        add(".");
      }
    }
    add(MethodName(FieldOf<PyHandle*>(callable, 16)));
  } else if (type == g_unit.api.descriptor_type) {  // PyMethodDescrObject: d_type, ..., d_method
    add(TypeName(FieldOf<PyHandle*>(callable, 16)));
    add(".");
    add(MethodName(FieldOf<PyHandle*>(callable, 40)));
  } else if (type == g_unit.api.type_type) {
    add(TypeName(callable));
  } else if (IsCythonType(type)) {
    if (AppendAttribute(text, &size, callable, "__module__")) add(".");
    if (!AppendAttribute(text, &size, callable, "__qualname__")) add("?");
  } else if (strcmp(TypeName(type), "numpy.ufunc") == 0) {  // PyUFuncObject::name
    add("numpy.");
    const char* name = FieldOf<const char*>(callable, 56);
    add(name != nullptr ? name : "ufunc");
  } else {
    add(TypeName(type));
  }
  return Intern(text, size);
}

bool IsTool(const PyHandle* callable) {
  static constexpr const char* kNames[] = {"setprofile",  "settrace",   "_setprofileallthreads",
                                           "use_tool_id", "set_events", "_settraceallthreads",
                                           "get_tool",    "getprofile", "gettrace"};
  if (TypeOf(callable) == g_unit.api.descriptor_type) {
    return strcmp(TypeName(FieldOf<PyHandle*>(callable, 16)), "_lsprof.Profiler") == 0;
  }
  if (!IsBuiltinType(TypeOf(callable))) {
    return false;
  }
  const char* name = MethodName(FieldOf<PyHandle*>(callable, 16));
  for (const char* tool : kNames) {
    if (strcmp(name, tool) == 0) {
      return true;
    }
  }
  const auto* self = FieldOf<PyHandle*>(callable, 24);
  return self != nullptr && strcmp(TypeName(TypeOf(self)), "_lsprof.Profiler") == 0;
}

const void* KeyOfBuiltin(const PyHandle* callable) {
  const PyHandle* type = TypeOf(callable);
  if (IsBuiltinType(type) || IsCythonType(type)) {
    return FieldOf<const void*>(callable, 16);  // a Cython function begins like a builtin
  }
  if (type == g_unit.api.descriptor_type) {
    return FieldOf<const void*>(callable, 40);
  }
  const bool lasts = type == g_unit.api.type_type || strcmp(TypeName(type), "numpy.ufunc") == 0;
  return lasts ? callable : type;
}

bool IsOwnMethod(const void* key) {
  return key >= g_unit.api.own_methods && key < g_unit.api.own_methods_end;
}

bool IsStopMethod(const PyHandle* callable) {
  return TypeOf(callable) == g_unit.api.builtin_type &&
         FieldOf<const void*>(callable, 16) == g_unit.api.stop_method;
}

// Code is ours if its file lies in the package penstock_hooks. The wrappers that forwarding.py
// makes also name such a file.
CodeOwner OwnerOf(PyHandle* code) {
  PyHandle* file = g_unit.api.attribute(code, "co_filename");
  if (file == nullptr) {
    g_unit.api.clear_error();
    return CodeOwner::kProgram;
  }
  intptr_t size = 0;
  const char* text = g_unit.api.as_text(file, &size);
  auto owner = CodeOwner::kProgram;
  if (text == nullptr) {
    g_unit.api.clear_error();
  } else if (strstr(text, "/penstock_hooks/") != nullptr) {
    owner = CodeOwner::kHooks;
  } else {
    for (const char* part : traces::kLibraryPaths) {
      if (strstr(text, part) != nullptr) {
        owner = CodeOwner::kLibrary;
      }
    }
  }
  g_unit.api.release(file);
  return owner;
}

}  // namespace penstock::agent
