/* NAME in C++17: the functions of NAME.h with destructors and exceptions.

       NAME_model model("NAME.weights");
       auto results = model.run({NAME_input(samples, {100, 3})});
       const float *scores = results[0].data<float>(); */
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "header.h"

struct NAME_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* An input that lies in the caller's memory, which is only read. */
template <class T>
NAME_array NAME_input(const T *data, std::initializer_list<std::int64_t> shape = {})
{
    NAME_array array{};
    if (shape.size() > sizeof array.shape / sizeof *array.shape) throw NAME_error("NAME: too many lengths");
    array.data = const_cast<T *>(data);
    std::copy(shape.begin(), shape.end(), array.shape);
    return array;
}

/* A result, which owns its numbers; the model must live as long. */
class NAME_result {
public:
    NAME_result() = default;
    NAME_result(NAME_function *f, const NAME_type &type, const NAME_array &array) : f_(f), type_(&type), array_(array) {}
    NAME_result(NAME_result &&other) noexcept { *this = std::move(other); }
    NAME_result &operator=(NAME_result &&other) noexcept
    {
        std::swap(f_, other.f_), std::swap(type_, other.type_), std::swap(array_, other.array_);
        return *this;
    }
    ~NAME_result() { if (array_.data) NAME_free(f_, array_.data); }

    /* The numbers in C order.  T is as large as an element. */
    template <class T>
    const T *data() const
    {
        if (sizeof(T) != static_cast<std::size_t>(type_->bytes)) throw NAME_error("NAME: a result has another type");
        return static_cast<const T *>(array_.data);
    }
    const char *name() const { return type_->name; }
    const char *dtype() const { return type_->dtype; }
    int rank() const { return type_->rank; }
    std::int64_t length(int axis) const { return array_.shape[axis]; }
    std::int64_t size() const
    {
        std::int64_t count = 1;
        for (int axis = 0; axis < rank(); axis++) count *= length(axis);
        return count;
    }

private:
    NAME_function *f_ = nullptr;
    const NAME_type *type_ = nullptr;
    NAME_array array_{};
};

/* The function with the values of its shared variables. */
class NAME_model {
public:
    explicit NAME_model(const std::string &weights, int threads = 0) : NAME_model(NAME_open(weights.c_str(), threads)) {}
    NAME_model(const void *weights, std::size_t bytes, int threads = 0)
        : NAME_model(NAME_open_memory(weights, bytes, threads)) {}

    /* Throws NAME_error if an input does not fit; then nothing was computed or updated. */
    std::array<NAME_result, UPPER_OUTPUTS> run(const std::array<NAME_array, UPPER_INPUTS> &inputs)
    {
        std::array<NAME_array, UPPER_OUTPUTS + 1> outputs{}; /* not empty for a function without results */
        std::array<NAME_result, UPPER_OUTPUTS> results;
        if (const int code = NAME_run(f_.get(), inputs.data(), outputs.data())) {
            char text[500];
            NAME_message(code, text, sizeof text);
            throw NAME_error(text);
        }
        for (std::size_t k = 0; k < results.size(); k++) results[k] = NAME_result(f_.get(), NAME_outputs[k], outputs[k]);
        return results;
    }

    /* The value of a shared variable, to be read or written in place between calls. */
    NAME_array &value(int number) { return *NAME_value(f_.get(), number); }

private:
    explicit NAME_model(NAME_function *f) : f_(f)
    {
        if (!f) throw NAME_error("these are not the weights of NAME");
    }
    struct Close {
        void operator()(NAME_function *f) const { NAME_close(f); }
    };
    std::unique_ptr<NAME_function, Close> f_;
};
