/* The native entry of a compiled function: a builtin of Python that reads arrays in place.

   A call of `x + 1` on three elements takes 0.25 us this way, 1.3 us by the entry in Python.  It serves functions
   without side effects.  It passes unusual calls (a keyword, a list, a misaligned or foreign array, results that
   need blocks of memory, an outcome other than success) with all arguments to `other`, which starts again.  It does
   the same for a call that Ctrl-C ended:  Python's own handler raises before `other` has done anything.

   Calls of a few microseconds keep Python's lock, others release it while they compute: those with many elements, and
   those of functions whose first calls were long.  Meanwhile the caller holds the arguments, and no other code knows
   the results.

   Inputs may also come from cells, and outputs go there: lists of one element, as other systems keep shared variables.

   No header of Python or NumPy is needed: native.py brings the addresses of a few functions, and the layouts of
   `object` and `array` have been the same since Python 3.8 and NumPy 1.7; native.py compares them with live objects
   before it trusts them. */
#pragma once
#include "../runtime/prebuilt.h"
#include "../abi/native.h"

#if !defined(__clang__)
#pragma GCC optimize("O2") /* of a call, this is what Python pays for */
#endif
#define EXPORT __attribute__((visibility("default")))

struct object {
    i64 references; /* only Python knows their meaning */
    const void *type;
};

typedef struct array {
    object head;
    char *data;
    i32 rank;
    i64 *shape, *strides;
    object *base, *dtype;
    i32 flags;
} array;

enum { C_CONTIGUOUS = 0x1, F_CONTIGUOUS = 0x2, ALIGNED = 0x100, WRITEABLE = 0x400, FASTCALL_KEYWORDS = 0x82 };
enum { C_ORDER = -1 }; /* the stride of a result that lies in the order of C */

/* Table by which Python finds a builtin. */
struct method {
    const char *name;
    object *(*call)(object *, object *const *, i64, object *);
    i32 flags;
    const char *doc;
};

static ag_python py;

/* Divide as Python does; 0 if there is no result of 64 bits. */
static i32 divided(i64 a, i64 b, i32 remainder, i64 *result)
{
    if (b == 0 || (b == -1 && a == (i64)1 << 63)) return 0;
    i64 rest = a % b, below = rest != 0 && (rest < 0) != (b < 0);
    *result = remainder ? rest + below * b : a / b - below;
    return 1;
}

/* Put the result of an operation on two numbers, or on three, at the first of them; 0 if it does not fit 64 bits. */
static i32 operated(i64 operation, i64 *x)
{
    i64 a = x[0], b = x[1];
    switch (operation) {
    case AG_ADD: return !__builtin_add_overflow(a, b, x);
    case AG_SUB: return !__builtin_sub_overflow(a, b, x);
    case AG_MUL: return !__builtin_mul_overflow(a, b, x);
    case AG_FLOORDIV: return divided(a, b, 0, x);
    case AG_MOD: return divided(a, b, 1, x);
    case AG_MAXIMUM: *x = a > b ? a : b; break;
    case AG_MINIMUM: *x = a < b ? a : b; break;
    case AG_LESS: *x = a < b; break;
    case AG_AT_MOST: *x = a <= b; break;
    case AG_EQUAL: *x = a == b; break;
    case AG_AND: *x = a & b; break;
    case AG_OR: *x = a | b; break;
    case AG_SELECT: *x = a ? b : x[2]; break;
    default: *x = a == 1 ? b : a; /* AG_BROADCAST */
    }
    return 1;
}

/* Set what a postfix program of (operation, operand) pairs computes from the inputs; 0 if that does not fit 64 bits. */
static i32 evaluated(const i64 *program, i64 count, const i64 *lengths, void *const *data, i64 *value)
{
    i64 stack[AG_STACK], top = -1;
    for (i64 k = 0; k < count; k++) {
        i64 operation = program[2 * k], operand = program[2 * k + 1];
        switch (operation) {
        case AG_NUMBER: stack[++top] = operand; break;
        case AG_EXTENT: stack[++top] = lengths[operand]; break;
        case AG_VALUE: stack[++top] = *(const i64 *)data[operand]; break;
        case AG_NOT: stack[top] = !stack[top]; break;
        default:
            top -= operation == AG_SELECT ? 2 : 1;
            if (!operated(operation, stack + top)) return 0;
        }
    }
    *value = stack[0];
    return 1;
}

/* Whether the guards of a function hold for a call. */
static i32 guarded(const ag_signature *s, const i64 *lengths, void *const *data)
{
    const i64 *program = s->guards;
    i64 holds = 1;
    for (i32 k = 0; k < s->guarded; program += 2 * s->guard_lengths[k++])
        if (!evaluated(program, s->guard_lengths[k], lengths, data, &holds) || !holds) return 0;
    return 1;
}

/* Return where the value of a number lies, in the object or in `place`; NULL if it does not fit the input. */
static char *number(object *it, i32 scalar, i64 *place)
{
    i32 overflow = 0;
    if (scalar == AG_FLOAT_SCALAR && (it->type == py.float_type || it->type == py.float64_type))
        return (char *)(it + 1);
    if (scalar != AG_INTEGER_SCALAR) return 0;
    if (it->type == py.int64_type) return (char *)(it + 1);
    if (it->type != py.integer_type) return 0;
    *place = py.as_integer(it, &overflow);
    return overflow ? 0 : (char *)place;
}

/* Put the arguments into the call; return the number of their elements, or -1 if one is not as expected.  contiguous:
   cleared if one of them has other strides than C's.  numbers: room for the values of integers. */
static i64 take(const ag_signature *s, object *const *given, void **data, i64 *lengths, i32 *contiguous, i64 *numbers)
{
    i64 elements = 0;
    for (i32 k = 0; k < s->inputs; k++) {
        const array *x = (const array *)given[k];
        if (x->head.type != py.array_type) {
            data[k] = number(given[k], s->scalars[k], numbers + k);
            if (!data[k]) return -1;
            elements++;
            continue;
        }
        if (x->dtype != s->dtypes[k] || x->rank != s->ranks[k]) return -1;
        if (~x->flags & (C_CONTIGUOUS | ALIGNED)) {
            if (!(x->flags & ALIGNED) || !s->items) return -1;
            *contiguous = 0;
        }
        i64 size = 1;
        for (i32 axis = 0; axis < x->rank; axis++) size *= *lengths++ = x->shape[axis];
        data[k] = x->data;
        elements += size;
    }
    return elements;
}

/* Put the strides of the arguments, in elements, into the call, and C's order for all results; 0: a stride is no whole
   number of elements. */
static i32 take_strides(const ag_signature *s, object *const *given, i64 *strides)
{
    for (i32 k = 0; k < s->inputs; k++) {
        const array *x = (const array *)given[k];
        for (i32 axis = 0; axis < s->ranks[k]; axis++) {
            if (x->strides[axis] % s->items[k]) return 0;
            *strides++ = x->strides[axis] / s->items[k];
        }
    }
    for (i32 k = 0; k < s->outputs; k++)
        for (i32 axis = 0; axis < s->ranks[s->inputs + k]; axis++) *strides++ = C_ORDER;
    return 1;
}

/* Whether the axes of an array, the fastest first, lie without gaps: axis, axis + by, ... */
static i32 is_dense(const array *x, i64 item, i32 axis, i32 by)
{
    for (i32 k = 0; k < x->rank; k++, axis += by) {
        if (x->shape[axis] != 1 && x->strides[axis] != item) return 0;
        item *= x->shape[axis];
    }
    return 1;
}

/* Give a new result the order of axes in which the call has laid it out. */
static void lay_out(array *result, const i64 *layout, i64 item)
{
    i64 order[AG_LENGTHS], step = item;
    for (i32 k = 0; k < result->rank; k++) {
        i32 j = k;
        if (layout[k] == C_ORDER) return;
        for (; j > 0 && layout[order[j - 1]] < layout[k]; j--) order[j] = order[j - 1];
        order[j] = k;
    }
    for (i32 k = result->rank - 1; k >= 0; step *= result->shape[order[k--]]) {
        if (result->shape[order[k]] == 0) return; /* an array of no elements lies in any order */
        result->strides[order[k]] = step;
    }
    result->flags &= ~(C_CONTIGUOUS | F_CONTIGUOUS);
    if (is_dense(result, item, result->rank - 1, -1)) result->flags |= C_CONTIGUOUS;
    if (is_dense(result, item, 0, 1)) result->flags |= F_CONTIGUOUS;
}

/* Make the arrays of the results and count their elements; return how many were made.  scalars: room for the values of
   results that become no arrays, two words each. */
static i32 make(const ag_signature *s, object **results, void **data, i64 *lengths, i64 *scalars, i64 *elements)
{
    const i64 *program = s->programs, *count = s->program_lengths;
    i64 *own = lengths + s->input_lengths;
    for (i32 k = 0; k < s->outputs; k++) {
        i32 rank = s->ranks[s->inputs + k];
        i64 size = 1, most = s->most[k]; /* far below the root of what an i64 holds */
        if (s->kinds && s->kinds[k]) {
            results[k] = 0;
            data[s->inputs + k] = scalars + 2 * k;
            ++*elements;
            continue;
        }
        for (i32 axis = 0; axis < rank; axis++) {
            if (!evaluated(program, *count, lengths, data, own + axis)) return k;
            if (own[axis] < 0 || own[axis] >= most) return k;
            size *= own[axis];
            if (size >= most) return k;
            program += 2 * *count++;
        }
        py.incref(s->dtypes[s->inputs + k]);
        results[k] = py.empty(rank, own, s->dtypes[s->inputs + k], 0);
        if (!results[k]) {
            py.clear_error();
            return k;
        }
        data[s->inputs + k] = ((array *)results[k])->data;
        *elements += size;
        own += rank;
    }
    return s->outputs;
}

/* Return the number of Python or the scalar of NumPy that an output becomes; NULL without memory. */
static object *number_of(i32 kind, const void *data, object *dtype)
{
    const double *x = data;
    switch (kind) {
    case AG_FLOAT: return py.new_float(*x);
    case AG_INTEGER: return py.new_integer(*(const i64 *)data);
    case AG_BOOL: return py.new_bool(*(const char *)data);
    case AG_COMPLEX: return py.new_complex(x[0], x[1]);
    default: return py.scalar(data, dtype, 0);
    }
}

/* Make the results of a call that are no arrays; 0 without memory. */
static i32 make_numbers(const ag_signature *s, object **results, void *const *data)
{
    for (i32 k = 0; s->kinds && k < s->outputs; k++) {
        if (!s->kinds[k]) continue;
        results[k] = number_of(s->kinds[k], data[s->inputs + k], s->dtypes[s->inputs + k]);
        if (!results[k]) {
            py.clear_error();
            return 0;
        }
    }
    return 1;
}

/* Run the call, without Python's lock if it may take long. */
static i32 computed(i32 (*run)(ag_call *call), ag_call *call, i64 elements)
{
    if (elements <= AG_SMALL) return run(call);
    void *thread = py.unlock();
    i32 outcome = run(call);
    py.lock(thread);
    return outcome;
}

/* Run the call, and time it while that decides whether calls are long.  A call that writes to cells keeps Python's lock:
   no other call may read them meanwhile, or its update would be lost. */
static i32 timed(ag_signature *s, ag_call *call, i64 elements)
{
    if (s->returned < s->outputs) return s->run(call);
    if (!s->trials || elements > AG_SMALL) return computed(s->run, call, s->is_long ? AG_SMALL + 1 : elements);
    i64 begun = s->rt->clock();
    i32 outcome = s->run(call);
    if (s->rt->clock() - begun < AG_SHORT) s->is_long = 0;
    s->trials--;
    return outcome;
}

/* Put the outputs that are not returned into their cells, which takes over the references. */
static void store(const ag_signature *s, object **results)
{
    for (i32 k = s->returned; k < s->outputs; k++) py.set_item(s->cells[s->stored + k - s->returned], 0, results[k]);
}

/* Fill in a call of contiguous arrays, without host steps and without a profile. */
static void prepare(ag_call *call, const ag_runtime *rt, const i64 *declared, void *const *constants,
                    const i64 *constant_lengths, void **data, i64 *lengths)
{
    call->rt = rt;
    call->data = data;
    call->lengths = lengths;
    call->strides = 0;
    call->declared = declared;
    call->constants = constants;
    call->constant_lengths = constant_lengths;
    call->host = 0;
    call->profile = call->memory = 0;
}

/* Make one call and the arrays of its results; 0 if the Python entry has to repeat it. */
static i32 ran(ag_signature *s, object *const *given, i64 begun, object **results)
{
    void *data[AG_ARRAYS];
    i64 lengths[AG_LENGTHS], strides[AG_LENGTHS], numbers[AG_ARRAYS];
    _Alignas(16) i64 scalars[2 * AG_ARRAYS];
    i32 contiguous = 1;
    i64 elements = take(s, given, data, lengths, &contiguous, numbers);
    if (elements < 0 || !guarded(s, lengths, data) || (!contiguous && !take_strides(s, given, strides))) return 0;
    i32 made = make(s, results, data, lengths, scalars, &elements);
    ag_call call;
    prepare(&call, s->rt, s->declared, s->constants, s->constant_lengths, data, lengths);
    call.strides = contiguous ? 0 : strides;
    call.profile = s->profile;
    call.begun = begun;
    call.warm_up = s->warm_up;
    if (made == s->outputs && timed(s, &call, elements) == 0 && make_numbers(s, results, data)) {
        const i64 *layout = strides + s->input_lengths;
        for (i32 k = 0; !contiguous && k < s->outputs; layout += s->ranks[s->inputs + k++])
            if (s->ranks[s->inputs + k]) lay_out((array *)results[k], layout, s->items[s->inputs + k]);
        return 1;
    }
    for (i32 k = 0; k < made; k++) {
        if (!results[k]) continue;
        char *block = data[s->inputs + k]; /* another one than was given, if its length was not as expected */
        if (!(s->kinds && s->kinds[k]) && block != ((array *)results[k])->data) s->rt->release(block);
        py.decref(results[k]);
    }
    return 0;
}

/* Make one call; NULL if the Python entry has to repeat it.  begun: when it began, if the function has a profile. */
static object *called(ag_signature *s, object *const *given, i64 begun)
{
    object *results[AG_ARRAYS];
    if (!ran(s, given, begun, results)) return 0;
    object *list = s->as_list ? py.new_list(s->returned) : results[0];
    if (list) {
        for (i32 k = 0; s->as_list && k < s->returned; k++) py.set_item(list, k, results[k]);
        store(s, results);
        return list;
    }
    py.clear_error();
    for (i32 k = 0; k < s->outputs; k++) py.decref(results[k]);
    return 0;
}

/* One call that is counted, unless another thread is counting one. */
static object *counted(ag_signature *s, object *const *given)
{
    i64 begun = s->rt->clock();
    if (s->counting) return 0;
    s->counting = 1;
    object *result = called(s, given, begun);
    s->counting = 0;
    return result;
}

/* One call whose last arguments are in cells.  They are held meanwhile: another thread may put others there. */
static object *completed(ag_signature *s, object *const *given)
{
    object *all[AG_ARRAYS], *result;
    const i32 own = s->inputs - s->stored;
    for (i32 k = 0; k < s->inputs; k++) {
        all[k] = k < own ? given[k] : py.list_item(s->cells[k - own], 0);
        if (k >= own) py.incref(all[k]);
    }
    result = called(s, all, 0);
    for (i32 k = own; k < s->inputs; k++) py.decref(all[k]);
    return result;
}

/* self: a tuple of the signature's address, the Python entry, and objects that both need. */
static object *entry(object *self, object *const *given, i64 count, object *names)
{
    ag_signature *s = py.as_pointer(py.item(self, 0));
    if (!names && count == s->inputs - s->stored) {
        object *result = s->profile ? counted(s, given) : s->stored ? completed(s, given) : called(s, given, 0);
        if (result) return result;
    }
    return py.vectorcall(py.item(self, 1), given, count, names);
}

static struct method definition = {"entry", entry, FASTCALL_KEYWORDS, 0};

EXPORT void *ag_native_method(const ag_python *python)
{
    py = *python;
    return &definition;
}
