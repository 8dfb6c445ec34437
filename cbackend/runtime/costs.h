/* The least work of a task, and the most that one thread does alone, of the cost model (targets/costs.py). */
#pragma once

enum { TASK_NS = 40000, ALONE_NS = 100000 };
