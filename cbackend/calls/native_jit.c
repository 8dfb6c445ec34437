/* The entry of a jitted function: a builtin that runs calls which are like the last ones.

   A trace of a jitted function serves calls whose arguments have its types, dtypes and ranks, while the variables that
   it has read are what they were and its guards hold.  This is checked here, in 0.1 us; reading the structure of the
   arguments in Python takes 3 us.  Every other call goes to the Python entry, with all its arguments, and so does one
   that fails: nothing was written before the end of a call that succeeds. */
#pragma once
#include "native_entry.c"

/* Whether the trace serves a call, as far as its arrays do not decide. */
static i32 serves(const ag_trace *t, object *const *given)
{
    for (i32 k = 0; k < t->count; k++) {
        if (t->types[k] ? given[k]->type != t->types[k] : given[k] != t->fixed[k]) return 0;
    }
    for (i32 k = 0; k < 3 * t->globals; k += 3) {
        if (py.dict_item(t->variables[k], t->variables[k + 1]) != t->variables[k + 2]) return 0;
    }
    if (!t->guard) return 1;
    object *answer = py.vectorcall(t->guard, given, t->count, 0);
    if (!answer) {
        py.clear_error();
        return 0;
    }
    py.decref(answer);
    return answer == t->yes;
}

/* Set the first byte of an array and the one after its last; return whether it has an element. */
static i32 bounds(const array *x, i64 item, char **first, char **end)
{
    *first = x->data;
    *end = x->data + item;
    for (i32 axis = 0; axis < x->rank; axis++) {
        i64 reach = (x->shape[axis] - 1) * x->strides[axis];
        if (!x->shape[axis]) return 0;
        if (reach < 0) *first += reach;
        else *end += reach;
    }
    return 1;
}

/* Whether the arrays that are written can be: contiguous, not read-only, and without an element of another array. */
static i32 may_store(const ag_trace *t, object *const *inputs)
{
    char *first, *end, *from, *to;
    for (i32 n = 0; n < t->stored; n++) {
        i32 place = t->stores[n];
        const array *x = (const array *)inputs[place];
        if (~x->flags & (C_CONTIGUOUS | WRITEABLE)) return 0;
        i32 has_elements = bounds(x, t->items[place], &first, &end);
        for (i32 k = 0; k < t->signature->inputs; k++) {
            const array *other = (const array *)inputs[k];
            if (k == place || other->head.type != py.array_type) continue;
            if (has_elements && bounds(other, t->items[k], &from, &to) && from < end && first < to) return 0;
        }
    }
    return 1;
}

/* Whether all arrays are different objects. */
static i32 are_distinct(const ag_trace *t, object *const *inputs)
{
    for (i32 k = 0; k < t->signature->inputs; k++)
        for (i32 j = 0; j < k; j++)
            if (inputs[j] == inputs[k] && inputs[k]->type == py.array_type) return 0;
    return 1;
}

/* Whether an output has the lengths of the array that it is written to. */
static i32 fits(const array *x, const array *output)
{
    if (x->rank != output->rank || !(output->flags & C_CONTIGUOUS)) return 0;
    for (i32 axis = 0; axis < x->rank; axis++)
        if (x->shape[axis] != output->shape[axis]) return 0;
    return 1;
}

/* Write outputs to the arrays of the call; 0, and nothing is written, if one does not fit. */
static i32 stored(const ag_trace *t, object *const *inputs, object *const *outputs)
{
    for (i32 n = 0; n < t->stored; n++)
        if (!fits((const array *)inputs[t->stores[n]], (const array *)outputs[n])) return 0;
    for (i32 n = 0; n < t->stored; n++) {
        const array *x = (const array *)inputs[t->stores[n]];
        i64 bytes = t->items[t->stores[n]];
        for (i32 axis = 0; axis < x->rank; axis++) bytes *= x->shape[axis];
        __builtin_memcpy(x->data, ((const array *)outputs[n])->data, (__SIZE_TYPE__)bytes);
    }
    return 1;
}

/* Make one call; 0 if the Python entry has to make it.  Otherwise `result` is set, or an exception. */
static i32 traced(const ag_trace *t, object *const *given, object **result)
{
    object *inputs[AG_ARRAYS], *outputs[AG_ARRAYS];
    i32 n = 0, first = t->stored;
    for (i32 k = 0; k < t->count; k++)
        if (t->types[k]) inputs[n++] = given[k];
    if (t->stored && !(are_distinct(t, inputs) && may_store(t, inputs))) return 0;
    if (!ran(t->signature, inputs, 0, outputs)) return 0;
    i32 done = stored(t, inputs, outputs);
    *result = t->finish ? 0 : t->returned ? outputs[first] : t->none;
    if (done && t->finish) *result = py.vectorcall(t->finish, outputs + first, t->returned, 0);
    if (done && !t->finish) py.incref(*result);
    for (i32 k = 0; k < t->signature->outputs; k++) py.decref(outputs[k]);
    return done;
}

/* self: a tuple of the trace's address, the Python entry, and objects that both need. */
static object *jitted(object *self, object *const *given, i64 count, object *names)
{
    const ag_trace *t = py.as_pointer(py.item(self, 0));
    object *result;
    if (!names && count == t->count && serves(t, given) && traced(t, given, &result)) return result;
    return py.vectorcall(py.item(self, 1), given, count, names);
}

static struct method jit_definition = {"jitted", jitted, FASTCALL_KEYWORDS, 0};

/* To be called after ag_native_method, which sets the addresses of Python's functions. */
EXPORT void *ag_jit_method(void) { return &jit_definition; }
