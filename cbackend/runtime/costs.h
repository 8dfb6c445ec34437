/* The least work of a task, and the most that one thread does alone, of the cost model (targets/costs.py). */
#pragma once

enum { TASK_NS = 40000, ALONE_NS = 100000 };
/* Elements of a part of a reduction, or rows of them, whatever they cost: bits of sums depend on it (lowering/splitting.py). */
enum { ELEMENTS_OF_PART = 65536, ROWS_OF_PART = 2048 };
