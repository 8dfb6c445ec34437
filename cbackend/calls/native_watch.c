/* The watch: whether the elements of a list lie in memory where they did, with the values that they had.

   Another system asks it before each call whose parameters are bound.  It takes 5 ns an element, a loop in Python
   100 to 200 ns.  A large element has a count of writes, and some of its numbers are compared: 20 ns. */
#pragma once
#include "native_entry.c"

static i32 lie_there(const ag_watch *w, object *list)
{
    for (i64 k = 0; k < w->count; k++) {
        object *it = py.list_item(list, w->places[k]);
        if (!it) {
            py.clear_error(); /* a shorter list, or none */
            return 0;
        }
        if (it->type != w->types[0] && it->type != w->types[1]) return 0;
        if (w->memory(it) != w->expected[k]) return 0;
    }
    return 1;
}

/* To be called only while the elements lie where they did. */
static i32 are_unchanged(const ag_watch *w)
{
    const i64 *kept = w->kept;
    i64 changes = 0, words[AG_SAMPLE_WORDS];
    for (i64 k = 0; k < w->lent; k++) {
        const char *at = w->samples[k];
        changes |= *w->writes[k] ^ w->written[k];
        for (i32 n = 0; n < AG_SAMPLES; n++, at += w->steps[k]) {
            __builtin_memcpy(words, at, sizeof words); /* an element may begin anywhere */
            for (i32 i = 0; i < AG_SAMPLE_WORDS; i++) changes |= words[i] ^ *kept++;
        }
    }
    return !changes;
}

/* self: a tuple of the watch's address, and objects that it needs. */
static object *watching(object *self, object *const *given, i64 count, object *names)
{
    const ag_watch *w = py.as_pointer(py.item(self, 0));
    object *answer = !names && count == 1 && lie_there(w, given[0]) && are_unchanged(w) ? w->yes : w->no;
    py.incref(answer);
    return answer;
}

static struct method watch_definition = {"watch", watching, FASTCALL_KEYWORDS, 0};

/* To be called after ag_native_method, which sets the addresses of Python's functions. */
EXPORT void *ag_watch_method(void) { return &watch_definition; }
