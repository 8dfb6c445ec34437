/* The cost model's least work of a task, most work of one thread alone, and time of a byte (targets/costs.py). */
#pragma once

enum { TASK_NS = 40000, ALONE_NS = 100000, MOVED_PS = 12 };
/* Elements of a part of a reduction, or rows of them, whatever they cost: bits of sums depend on it (lowering/splitting.py). */
enum { ELEMENTS_OF_PART = 65536, ROWS_OF_PART = 2048 };
