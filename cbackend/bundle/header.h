/* @SIGNATURE@
@TOLD@
   Written by arignote @VERSION@.  `make` builds lib@NAME@.a and the program @NAME@ (@NAME@_main.c). */
#ifndef ARIGNOTE_@UPPER@_H
#define ARIGNOTE_@UPPER@_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { @UPPER@_INPUTS = @INPUTS@, @UPPER@_OUTPUTS = @OUTPUTS@, @UPPER@_SHARED = @SHARED@ };

/* An array in C order, its address a multiple of its element's size.  Lengths beyond its rank say nothing. */
typedef struct @NAME@_array {
    void *data;
    int64_t shape[@RANK@];
} @NAME@_array;

/* Declaration of an array.  dtype: NumPy's name; bytes: of an element; lengths: -1 where any length fits. */
typedef struct @NAME@_type {
    const char *name, *dtype;
    int bytes, rank;
    int64_t lengths[@RANK@];
} @NAME@_type;

extern const @NAME@_type @NAME@_inputs[], @NAME@_outputs[], @NAME@_shared[];

typedef struct @NAME@_function @NAME@_function; /* a function, with the values of its shared variables */

/* The function, with values from the file `weights`; NULL if that is not the one written for it, or memory is short.
   threads: how many a call may use; 0: as many as there are processors. */
@NAME@_function *@NAME@_open(const char *weights, int threads);
@NAME@_function *@NAME@_open_memory(const void *weights, size_t bytes, int threads); /* the bytes of that file */
void @NAME@_close(@NAME@_function *f);

/* Computes outputs from inputs; shared variables are updated.  outputs[k].data: where to write if outputs[k].shape is
   right; if it is not, or data is NULL, data is told a new block, for @NAME@_free.  0, or a code for @NAME@_message;
   then nothing was computed or updated.  Threads may call at once if nothing is updated. */
int @NAME@_run(@NAME@_function *f, const @NAME@_array *inputs, @NAME@_array *outputs);
void @NAME@_free(@NAME@_function *f, void *result);
void @NAME@_message(int code, char *text, size_t room);

/* The value of a shared variable, by number: to be read, or written in place, between calls. */
@NAME@_array *@NAME@_value(@NAME@_function *f, int number);

#ifdef __cplusplus
}
#endif
#endif
