/* Functions of NAME.h: they call the program in NAME_program.c and the runtime, with the tables above. */
#include "tables.h"

struct NAME_function {
    ag_runtime rt; /* with as many threads as were asked for */
    void *constants[CONSTANTS + 1];
    NAME_array shared[UPPER_SHARED + 1];
};

enum {
    ARRAYS = UPPER_INPUTS + UPPER_SHARED + RESULTS,
    DONE = 0,
    RESULTS_MOVED = 1,
    SITES_FROM = 128,
    INPUTS_SITE = -1
};

static int64_t elements(const NAME_type *type, const int64_t *shape)
{
    int64_t count = 1;
    for (int axis = 0; axis < type->rank; axis++) count *= shape[axis];
    return count;
}

/* Where weights come from: a file, or memory. */
typedef struct source {
    FILE *file; /* NULL: memory */
    const char *at;
    size_t left; /* of the memory */
} source;

static int read_bytes(source *from, void *into, int64_t bytes)
{
    const size_t count = (size_t)bytes;
    if (from->file) return fread(into, 1, count, from->file) == count;
    if (count > from->left) return 0;
    memcpy(into, from->at, count);
    from->at += count, from->left -= count;
    return 1;
}

static int is_at_end(source *from) { return from->file ? fgetc(from->file) == EOF : !from->left; }

/* `bytes` bytes of the weights, in a block of the runtime; NULL if there are no more. */
static char *block_of(NAME_function *f, source *from, int64_t bytes)
{
    char *block = f->rt.alloc(bytes);
    if (block && bytes && !read_bytes(from, block, bytes)) {
        f->rt.release(block);
        return NULL;
    }
    return block;
}

static int read_weights(NAME_function *f, source *from)
{
    char magic[sizeof MAGIC];
    if (!read_bytes(from, magic, sizeof magic) || memcmp(magic, MAGIC, sizeof magic) != 0) return 0;
    for (int k = 0; k < CONSTANTS; k++) {
        f->constants[k] = block_of(f, from, constant_bytes[k]);
        if (!f->constants[k]) return 0;
    }
    for (int k = 0; k < UPPER_SHARED; k++) {
        const NAME_type *type = &NAME_shared[k];
        memcpy(f->shared[k].shape, shared_shapes[k], sizeof f->shared[k].shape);
        f->shared[k].data = block_of(f, from, type->bytes * elements(type, f->shared[k].shape));
        if (!f->shared[k].data) return 0;
    }
    return is_at_end(from);
}

static NAME_function *opened(source *from, int threads)
{
#ifdef AG_ALONE
    const long processors = 1;
#else
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    ag_runtime *table = ag_runtime_table(0, processors > 1 ? (i32)processors : 1);
    install_products(table);
    NAME_function *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->rt = *table;
    if (threads > 0) f->rt.threads = threads;
    if (read_weights(f, from)) return f;
    NAME_close(f);
    return NULL;
}

NAME_function *NAME_open(const char *weights, int threads)
{
    source from = {.file = fopen(weights, "rb")};
    NAME_function *f = from.file ? opened(&from, threads) : NULL;
    if (from.file) fclose(from.file);
    return f;
}

NAME_function *NAME_open_memory(const void *weights, size_t bytes, int threads)
{
    source from = {.at = weights, .left = bytes};
    return opened(&from, threads);
}

void NAME_close(NAME_function *f)
{
    if (!f) return;
    for (int k = 0; k < CONSTANTS; k++) f->rt.release(f->constants[k]);
    for (int k = 0; k < UPPER_SHARED; k++) f->rt.release(f->shared[k].data);
    free(f);
}

void NAME_free(NAME_function *f, void *result) { f->rt.release(result); }

NAME_array *NAME_value(NAME_function *f, int number) { return &f->shared[number]; }

/* Tell the caller where a result lies; one of the shape that he expects is moved to where he wants it. */
static void hand_over(NAME_function *f, const NAME_type *type, char *data, const i64 *lengths, NAME_array *result)
{
    const size_t shape = (size_t)type->rank * sizeof *lengths;
    if (result->data && result->data != data && !memcmp(result->shape, lengths, shape)) {
        memcpy(result->data, data, (size_t)(type->bytes * elements(type, lengths)));
        f->rt.release(data);
        return;
    }
    result->data = data;
    memcpy(result->shape, lengths, shape);
}

int NAME_run(NAME_function *f, const NAME_array *inputs, NAME_array *outputs)
{
    void *data[ARRAYS + 1];
    i64 lengths[LENGTHS + 1];
    int array = 0, at = 0;
    for (int k = 0; k < UPPER_INPUTS + UPPER_SHARED; k++, array++) {
        const NAME_array *x = k < UPPER_INPUTS ? &inputs[k] : &f->shared[k - UPPER_INPUTS];
        data[array] = x->data;
        for (int axis = 0; axis < inputs_and_results[k].rank; axis++) lengths[at++] = x->shape[axis];
    }
    for (int k = 0; k < RESULTS; k++, array++) {
        const int rank = inputs_and_results[array].rank, given = output_of[k];
        data[array] = written_over[k] >= 0 ? data[written_over[k]] : given >= 0 ? outputs[given].data : NULL;
        for (int axis = 0; axis < rank; axis++) lengths[at++] = given >= 0 ? outputs[given].shape[axis] : 0;
    }
    ag_call call = {.rt = &f->rt,
                    .data = data,
                    .lengths = lengths,
                    .declared = declared,
                    .constants = f->constants,
                    .constant_lengths = constant_lengths};
    const i32 outcome = ag_entry(&call);
    if (outcome != DONE && outcome != RESULTS_MOVED) return outcome + SITES_FROM * (call.step - INPUTS_SITE);
    at = INPUT_LENGTHS;
    for (int k = 0; k < RESULTS; k++) {
        const int number = UPPER_INPUTS + UPPER_SHARED + k;
        const NAME_type *type = &inputs_and_results[number];
        if (output_of[k] >= 0) {
            hand_over(f, type, data[number], &lengths[at], &outputs[output_of[k]]);
        } else {
            NAME_array *shared = &f->shared[shared_of[k]];
            if (shared->data != data[number]) f->rt.release(shared->data);
            shared->data = data[number];
            memcpy(shared->shape, &lengths[at], (size_t)type->rank * sizeof *lengths);
        }
        at += type->rank;
    }
    return 0;
}

void NAME_message(int code, char *text, size_t room)
{
    const int outcome = code % SITES_FROM, site = code / SITES_FROM + INPUTS_SITE;
    const char *what = "failed";
    for (size_t k = 0; k < sizeof sentences / sizeof *sentences; k++)
        if (sentences[k].outcome == outcome) what = sentences[k].text;
    const int known = site >= 0 && site < SITES;
    const char *const parts[] = {"NAME: ", what, known ? ", in " : "", known ? sites[site] : ""};
    for (size_t k = 0; k < sizeof parts / sizeof *parts && room; k++)
        for (const char *letter = parts[k]; *letter && room > 1; letter++, room--) *text++ = *letter;
    if (room) *text = 0;
}
