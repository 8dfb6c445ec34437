/* Outcomes of generated functions, the numbers of program/outcome.py.  A generated file has the numbers themselves. */
#pragma once

enum {
    AG_DONE = 0, AG_OTHER_OUTPUTS = 1, AG_MEMORY = 2, AG_LENGTHS = 3, AG_DECLARED = 4, AG_MISALIGNED = 5,
    AG_INDEX = 6, AG_ZERO_STEP = 7, AG_NEGATIVE_LENGTH = 8, AG_RESHAPE = 9, AG_RANGE = 11, AG_HOST = 10,
    AG_INTERRUPTED = 12, AG_SINGULAR = 13, AG_NOT_POSITIVE_DEFINITE = 14, AG_UNREACHED = 15, AG_KERNEL = 16,
    AG_CHANGED = 64, AG_TOO_SHORT = 65, AG_NEGATIVE_STEPS = 66, AG_PROMISED = 67, AG_INDICES = 68, AG_WINDOW = 69,
    AG_REFUSED = 70
};
