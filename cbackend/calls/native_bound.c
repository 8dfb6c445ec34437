/* The native entry of a bound function (binding.py): it only checks that the arrays have not moved, allocates nothing,
   and returns the same object every time.

   Each call has an ag_call of its own, so concurrent calls disturb only each other's results.  A call that fails is
   repeated by the Python entry: a function with a native entry has no side effects. */
#pragma once
#include "native_entry.c"

/* Run one call with the arrays of a binding; 0 if the Python entry has to repeat it. */
static i32 repeated(const ag_binding *b)
{
    void *data[AG_ARRAYS];
    i64 lengths[AG_LENGTHS];
    for (i32 k = 0; k < b->count; k++) {
        data[k] = b->data[k];
        if (((const array *)b->arrays[k])->data != data[k]) return 0;
    }
    for (i32 k = 0; k < b->axes; k++) lengths[k] = b->lengths[k];
    ag_call call;
    prepare(&call, b->call.rt, b->call.declared, b->call.constants, b->call.constant_lengths, data, lengths);
    if (computed(b->run, &call, b->elements) == 0) return 1;
    for (i32 k = b->inputs; k < b->count; k++)
        if (data[k] != b->data[k]) b->call.rt->release(data[k]);
    return 0;
}

/* self: a tuple of the binding's address, the Python entry, and objects that both need. */
static object *bound_entry(object *self, object *const *given, i64 count, object *names)
{
    const ag_binding *b = py.as_pointer(py.item(self, 0));
    if (!names && !count && repeated(b)) {
        py.incref(b->result);
        return b->result;
    }
    return py.vectorcall(py.item(self, 1), given, count, names);
}

static struct method bound_definition = {"bound", bound_entry, FASTCALL_KEYWORDS, 0};

/* To be called after ag_native_method, which sets the addresses of Python's functions. */
EXPORT void *ag_bound_method(void) { return &bound_definition; }
