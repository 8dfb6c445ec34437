/* SIGNATURE
REPORTED
   Written by arignote VERSION.  `make` builds libNAME.a and the program NAME (NAME_main.c). */
#ifndef ARIGNOTE_UPPER_H
#define ARIGNOTE_UPPER_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { UPPER_INPUTS = INPUTS, UPPER_OUTPUTS = OUTPUTS, UPPER_SHARED = SHARED };

/* An array in C order, its address a multiple of its element's size.  Lengths beyond its rank say nothing. */
typedef struct NAME_array {
    void *data;
    int64_t shape[RANK];
} NAME_array;

/* Declaration of an array.  dtype: NumPy's name; bytes: of an element; lengths: -1 where any length fits. */
typedef struct NAME_type {
    const char *name, *dtype;
    int bytes, rank;
    int64_t lengths[RANK];
} NAME_type;

extern const NAME_type NAME_inputs[], NAME_outputs[], NAME_shared[];

typedef struct NAME_function NAME_function; /* a function, with the values of its shared variables */

/* The function, with values from the file `weights`; NULL if that is not the one written for it, or memory is short.
   threads: how many a call may use; 0: as many as there are processors. */
NAME_function *NAME_open(const char *weights, int threads);
NAME_function *NAME_open_memory(const void *weights, size_t bytes, int threads); /* the bytes of that file */
void NAME_close(NAME_function *f);

/* Computes outputs from inputs; shared variables are updated.  outputs[k].data: where to write if outputs[k].shape is
   right; if it is not, or data is NULL, data becomes a new block, for NAME_free.  0, or a code for NAME_message;
   then nothing was computed or updated.  Threads may call at once if nothing is updated. */
int NAME_run(NAME_function *f, const NAME_array *inputs, NAME_array *outputs);
void NAME_free(NAME_function *f, void *result);
void NAME_message(int code, char *text, size_t room);

/* The value of a shared variable, by number: to be read, or written in place, between calls. */
NAME_array *NAME_value(NAME_function *f, int number);

#ifdef __cplusplus
}
#endif
#endif
