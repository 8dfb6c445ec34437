/* Calls NAME once.

       ./NAME NAME.weights INPUT ...        an input is FILE:LENGTH,LENGTH,..., or FILE for a single number

   Files hold the elements in C order.  Results go to NAME.out0, NAME.out1, ...; what they are is printed, without
   printf, which would add 17 KB to a static program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "header.h"

static void end(const char *what, const char *which)
{
    const char *const parts[] = {which, ": ", what, "\n"};
    for (int k = 0; k < 4; k++) fputs(parts[k], stderr);
    exit(1);
}

/* The digits of a number in `room`, which has 24 bytes. */
static const char *digits(unsigned long long number, char *room)
{
    char *at = room + 23;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    return at;
}

/* The array that an argument describes. */
static NAME_array array_of(char *argument, const NAME_type *type)
{
    NAME_array x = {0};
    size_t count = 1;
    char *lengths = strrchr(argument, ':');
    if (lengths) *lengths++ = 0;
    for (int axis = 0; axis < type->rank; axis++) {
        if (!lengths || !*lengths) end("too few lengths", argument);
        x.shape[axis] = strtoll(lengths, &lengths, 10);
        if (*lengths == ',') lengths++;
        count *= (size_t)x.shape[axis];
    }
    FILE *file = fopen(argument, "rb");
    x.data = malloc(count * (size_t)type->bytes + 1);
    if (!file || !x.data || fread(x.data, (size_t)type->bytes, count, file) != count) end("cannot be read", argument);
    fclose(file);
    return x;
}

int main(int argc, char **argv)
{
    if (argc != 2 + UPPER_INPUTS) end("expected the weights and one file for each input", argv[0]);
    NAME_function *f = NAME_open(argv[1], 0);
    if (!f) end("these are not the weights of NAME", argv[1]);
    NAME_array inputs[UPPER_INPUTS + 1] = {0}, outputs[UPPER_OUTPUTS + 1] = {0};
    for (int k = 0; k < UPPER_INPUTS; k++) inputs[k] = array_of(argv[2 + k], &NAME_inputs[k]);
    const int code = NAME_run(f, inputs, outputs);
    if (code) {
        char text[500];
        NAME_message(code, text, sizeof text);
        end(text, argv[0]);
    }
    for (int k = 0; k < UPPER_OUTPUTS; k++) {
        char name[sizeof "NAME.out" + 24] = "NAME.out", room[24];
        size_t count = 1;
        strcat(name, digits((unsigned long long)k, room));
        fputs(name, stdout);
        fputs(": ", stdout);
        fputs(NAME_outputs[k].dtype, stdout);
        for (int axis = 0; axis < NAME_outputs[k].rank; axis++) {
            fputs(axis ? ", " : "[", stdout);
            fputs(digits((unsigned long long)outputs[k].shape[axis], room), stdout);
            count *= (size_t)outputs[k].shape[axis];
        }
        fputs(NAME_outputs[k].rank ? "]\n" : "\n", stdout);
        FILE *file = fopen(name, "wb");
        if (!file || fwrite(outputs[k].data, (size_t)NAME_outputs[k].bytes, count, file) != count || fclose(file))
            end("cannot be written", name);
        NAME_free(f, outputs[k].data);
    }
    for (int k = 0; k < UPPER_INPUTS; k++) free(inputs[k].data);
    NAME_close(f);
    return 0;
}
