#pragma once
#include "call.h"

/* How the native entry knows a function, and what it borrows from Python and NumPy. */
typedef struct object object;

/* AG_SMALL: elements up to which short calls keep Python's lock; AG_SHORT: nanoseconds of a short call. */
enum { AG_SMALL = 2048, AG_SHORT = 20000, AG_TRIALS = 8, AG_ARRAYS = 32, AG_LENGTHS = 64 };
/* Instructions that compute a length, or the truth of a guard.  The first three push an operand, AG_NOT replaces the
   last value by another one, AG_SELECT three (the truth, then both choices), and all others two. */
enum {
    AG_NUMBER,                    /* the operand */
    AG_EXTENT,                    /* a length of an input */
    AG_VALUE,                     /* the element of an input, an array of rank 0 of int64 */
    AG_ADD, AG_SUB, AG_MUL, AG_FLOORDIV, AG_MOD, AG_MAXIMUM, AG_MINIMUM, AG_BROADCAST,
    AG_LESS, AG_AT_MOST, AG_EQUAL, AG_AND, AG_OR, AG_NOT, AG_SELECT
};
/* Most values that a program has on the stack. */
enum { AG_STACK = 16 };

/* Inputs for which numbers stand: arrays of rank 0 of float64, of int64. */
enum { AG_NO_SCALAR, AG_FLOAT_SCALAR, AG_INTEGER_SCALAR };

/* Objects that outputs become: arrays, scalars of NumPy, numbers of Python. */
enum { AG_ARRAY, AG_NUMPY_SCALAR, AG_FLOAT, AG_INTEGER, AG_BOOL, AG_COMPLEX };

typedef struct ag_signature {
    i32 (*run)(ag_call *call);
    const ag_runtime *rt;
    const i64 *declared;
    void *const *constants;
    const i64 *constant_lengths;
    object *const *dtypes;        /* inputs, then outputs */
    const i32 *ranks;             /* inputs, then outputs */
    const i32 *scalars;           /* inputs: AG_FLOAT_SCALAR or AG_INTEGER_SCALAR, if numbers of Python are taken, too */
    const i64 *items;             /* their bytes an element; NULL: no array of other strides than C's is taken */
    const i64 *most;              /* outputs: the elements from which they are made elsewhere */
    const i64 *programs;          /* for each length of each output its program, one after the other */
    const i64 *program_lengths;   /* in pairs (operation, operand) */
    const i64 *guards;            /* programs that must be true of a call, like those of lengths */
    const i64 *guard_lengths;     /* `guarded` of them */
    i64 *profile, *warm_up;       /* as in ag_call; one call at a time counts there */
    i32 counting;                 /* whether one does now: who holds Python's lock may look, and change it */
    i64 input_lengths;            /* of all inputs together */
    i32 inputs, outputs, guarded;
    i32 stored;                   /* the last inputs, which come from cells and not from the caller */
    i32 returned;                 /* the first outputs; the others go to cells */
    object *const *cells;         /* lists of one element: of the stored inputs, then of the outputs not returned */
    const i32 *kinds;             /* outputs: AG_ARRAY, AG_FLOAT, ...; NULL: all are arrays */
    i32 as_list;
    i32 trials;                   /* calls that are still timed */
    i32 is_long;                  /* whether none of the timed calls was short */
} ag_signature;

/* A function with the arrays that it is called with again and again, results included. */
typedef struct ag_binding {
    ag_call call;                 /* without data and lengths, which each call has its own of */
    i32 (*run)(ag_call *call);
    object *const *arrays;        /* inputs, then outputs */
    void *const *data;            /* where they lie; where one of them has moved, the call goes the other way */
    const i64 *lengths;
    i64 elements;
    i32 inputs, count, axes;      /* arrays, all arrays, the lengths of all */
    object *result;
} ag_binding;

/* A function for callers in C; some of its arrays may be bound. */
typedef struct ag_plain {
    ag_call call;                 /* as in ag_binding */
    i32 (*run)(ag_call *call);
    void *const *data;            /* inputs, then outputs; NULL for those that the caller gives */
    const i64 *lengths;           /* of all arrays, for callers that give none */
    i64 dim, results;             /* elements of the first input, of the last output */
    i32 inputs, count, axes;      /* inputs, all arrays, the lengths of all */
} ag_plain;

enum { AG_SAMPLES = 4, AG_SAMPLE_WORDS = 4 };

/* Elements of a list of another system's objects, whose memory may move between calls, and be written to. */
typedef struct ag_watch {
    void *(*memory)(object *it);  /* where an object of one of these types has its elements */
    const void *types[2];
    const i64 *places;            /* in the list */
    void *const *expected;        /* addresses */
    i64 count;
    const i32 *const *writes;     /* where the other system counts the writes to some of them */
    const i32 *written;           /* the counts that are expected */
    const char *const *samples;   /* AG_SAMPLES of each of these, `steps` bytes apart, each AG_SAMPLE_WORDS of 8 bytes */
    const i64 *steps, *kept;      /* `kept`: the words that are expected */
    i64 lent;
    object *yes, *no;
} ag_watch;

/* A trace of a jitted function: what a call must be like for it, and what becomes of the outputs. */
typedef struct ag_trace {
    ag_signature *signature;
    const void *const *types;     /* of the arguments; NULL for one that is static */
    object *const *fixed;         /* arguments: the static object, or NULL */
    object *const *variables;     /* triples: the globals, a name, the value that the trace holds for */
    object *guard;                /* a function of the arguments that says whether the trace serves them, or NULL */
    object *finish;               /* makes the result from outputs; NULL: the result is an output, or None */
    object *yes, *none;
    const i32 *stores;            /* inputs that the first outputs are written to */
    const i64 *items;             /* inputs: bytes an element */
    i32 count, globals, stored;   /* arguments, variables, outputs that are written */
    i32 returned;                 /* outputs after those, of which the result is made; further ones are dropped */
} ag_trace;

typedef struct ag_python {
    const void *array_type;
    const void *float_type, *integer_type, *float64_type, *int64_type;
    i64 (*as_integer)(object *number, i32 *overflow);
    object *(*dict_item)(object *dict, object *key);
    void (*incref)(object *it);
    void (*decref)(object *it);
    void *(*unlock)(void);        /* gives Python's lock back; what `lock` wants to see again */
    void (*lock)(void *thread);
    void (*clear_error)(void);
    void *(*as_pointer)(object *number);
    object *(*item)(object *tuple, i64 index);
    object *(*new_list)(i64 length);
    object *(*list_item)(object *list, i64 index);
    i32 (*set_item)(object *list, i64 index, object *it);
    object *(*vectorcall)(object *callee, object *const *arguments, i64 count, object *names);
    object *(*empty)(i32 rank, const i64 *shape, object *dtype, i32 fortran);
    object *(*scalar)(const void *data, object *dtype, object *base);
    object *(*new_float)(double x);
    object *(*new_integer)(i64 n);
    object *(*new_bool)(i64 truth);
    object *(*new_complex)(double real, double imag);
} ag_python;
