// SPDX-License-Identifier: Apache-2.0

#include "agent/python_api.h"

#include <dlfcn.h>

#include "agent/system/symver.h"

namespace penstock::agent {

Python g_python;

void* FindInPython(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

bool LoadPython() {
  Python& p = g_python;
  return Load(&p.new_function, "PyCFunction_NewEx") && Load(&p.new_dict, "PyDict_New") &&
         Load(&p.set_item, "PyDict_SetItemString") && Load(&p.from_long, "PyLong_FromLongLong") &&
         Load(&p.as_long, "PyLong_AsLongLong") && Load(&p.as_text, "PyUnicode_AsUTF8AndSize") &&
         Load(&p.clear_error, "PyErr_Clear") && Load(&p.error_occurred, "PyErr_Occurred") &&
         Load(&p.save_thread, "PyEval_SaveThread") &&
         Load(&p.restore_thread, "PyEval_RestoreThread") && Load(&p.retain, "Py_IncRef") &&
         Load(&p.release, "Py_DecRef") && Load(&p.none, "_Py_NoneStruct") &&
         Load(&p.yes, "_Py_TrueStruct") && Load(&p.no, "_Py_FalseStruct");
}

int64_t NumberOf(Object* object) {
  const long long value = g_python.as_long(object);
  if (value == -1 && g_python.error_occurred() != nullptr) {
    g_python.clear_error();
  }
  return value;
}

View TextOf(Arguments a, Count n, Count i) {
  Count size = 0;
  const char* text = i < n ? g_python.as_text(a[i], &size) : nullptr;
  if (text == nullptr) {
    g_python.clear_error();
    return {};
  }
  return {text, static_cast<size_t>(size)};
}

}  // namespace penstock::agent
