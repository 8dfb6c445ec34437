/* Integers of the declarations.  C11 allows a typedef to be repeated, so that a program may have them as well. */
#pragma once

typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
