/* Tables that bundle.py puts in front of bundle.c, as tools read them: of a function with an input, a shared variable and a
   constant.  NAME, UPPER and, in header.h, INPUTS, OUTPUTS, SHARED, RANK are fields. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "header.h"
#include "../abi/call.h"

ag_runtime *ag_runtime_table(uint64_t main_thread, i32 threads);
static void install_products(ag_runtime *rt) { (void)rt; }

enum { CONSTANTS = 1, RESULTS = 1, INPUT_LENGTHS = 2, LENGTHS = 3, SITES = 1 };
#define MAGIC "arignote 0 NAME"

const NAME_type NAME_inputs[] = {{"x", "float64", 8, 1, {-1}}};
const NAME_type NAME_shared[] = {{"w", "float64", 8, 1, {3}}};
const NAME_type NAME_outputs[] = {{"", "float64", 8, 1, {-1}}};
static const NAME_type inputs_and_results[] = {
    {"x", "float64", 8, 1, {-1}}, {"w", "float64", 8, 1, {3}}, {"", "float64", 8, 1, {-1}}};
static const int output_of[] = {0}, written_over[] = {-1}, shared_of[] = {-1};
static const i64 declared[] = {-1, 3}, constant_bytes[] = {8}, constant_lengths[] = {1}, shared_shapes[][RANK] = {{3}};
static const char *const sites[] = {"x + w"};
static const struct {
    int outcome;
    const char *text;
} sentences[] = {{2, "there is no memory for a result"}};
