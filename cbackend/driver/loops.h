/* The tables of loops; a choice is a loop of one step. */
#pragma once
#include "../abi/call.h"

/* A body: its function, where its constants and their lengths begin among the caller's, whether it calls Python; where its
   counters begin in a profile, with the row of its steps. */
typedef struct ag_body {
    i32 (*run)(ag_call *call);
    i64 constants, lengths;
    i32 calls_back;
    i64 counters, row;
} ag_body;

/* Storage of a result of a body: the last is kept; all are kept in allocated memory; all are kept in memory that
   grows; the state is written in place, where its last value is wanted. */
enum { AG_LAST, AG_ALL, AG_GROWN, AG_HELD };

/* A loop.  Inputs of the body are rows of sequences, states, and others; its outputs the next states, values of the
   step, and the condition to end, which stays 0 if there is none.  Tables have an entry an output. */
typedef struct ag_loop {
    ag_body body;
    i32 site, sequences, states, inputs, outputs;
    i64 reported;                 /* where in `lengths` those of the outputs begin */
    const i32 *ranks, *kinds;
    const i32 *known;             /* whether the lengths of an output are known before the first step */
    const i64 *items;             /* bytes an element */
    const i64 *rows;              /* of each sequence: bytes from one row to the next */
    void **data;                  /* first elements of the inputs of the body, then of its outputs */
    i64 *lengths, *kept;          /* kept: what the lengths of the outputs are to be */
    void **results;
    void **places;                /* two for each state */
    void **targets;
    i64 *bytes, *capacity;        /* of an output in a step; the number of steps that its memory holds */
} ag_loop;
