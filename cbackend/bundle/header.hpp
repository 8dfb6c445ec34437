/* @NAME@ in C++17: the functions of @NAME@.h with destructors and exceptions.

       @NAME@_model model("@NAME@.weights");
       auto results = model.run({@NAME@_input(samples, {100, 3})});
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

#include "@NAME@.h"

struct @NAME@_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* An input that lies in the caller's memory, which is only read. */
template <class T>
@NAME@_array @NAME@_input(const T *data, std::initializer_list<std::int64_t> shape = {})
{
    @NAME@_array array{};
    if (shape.size() > sizeof array.shape / sizeof *array.shape) throw @NAME@_error("@NAME@: too many lengths");
    array.data = const_cast<T *>(data);
    std::copy(shape.begin(), shape.end(), array.shape);
    return array;
}

/* A result, which owns its numbers; the model must live as long. */
class @NAME@_result {
public:
    @NAME@_result() = default;
    @NAME@_result(@NAME@_function *f, const @NAME@_type &type, const @NAME@_array &array) : f_(f), type_(&type), array_(array) {}
    @NAME@_result(@NAME@_result &&other) noexcept { *this = std::move(other); }
    @NAME@_result &operator=(@NAME@_result &&other) noexcept
    {
        std::swap(f_, other.f_), std::swap(type_, other.type_), std::swap(array_, other.array_);
        return *this;
    }
    ~@NAME@_result() { if (array_.data) @NAME@_free(f_, array_.data); }

    /* The numbers in C order.  T is as large as an element. */
    template <class T>
    const T *data() const
    {
        if (sizeof(T) != static_cast<std::size_t>(type_->bytes)) throw @NAME@_error("@NAME@: a result has another type");
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
    @NAME@_function *f_ = nullptr;
    const @NAME@_type *type_ = nullptr;
    @NAME@_array array_{};
};

/* The function with the values of its shared variables. */
class @NAME@_model {
public:
    explicit @NAME@_model(const std::string &weights, int threads = 0) : @NAME@_model(@NAME@_open(weights.c_str(), threads)) {}
    @NAME@_model(const void *weights, std::size_t bytes, int threads = 0)
        : @NAME@_model(@NAME@_open_memory(weights, bytes, threads)) {}

    /* Throws @NAME@_error if an input does not fit; then nothing was computed or updated. */
    std::array<@NAME@_result, @UPPER@_OUTPUTS> run(const std::array<@NAME@_array, @UPPER@_INPUTS> &inputs)
    {
        std::array<@NAME@_array, @UPPER@_OUTPUTS + 1> outputs{}; /* not empty for a function without results */
        std::array<@NAME@_result, @UPPER@_OUTPUTS> results;
        if (const int code = @NAME@_run(f_.get(), inputs.data(), outputs.data())) {
            char text[500];
            @NAME@_message(code, text, sizeof text);
            throw @NAME@_error(text);
        }
        for (std::size_t k = 0; k < results.size(); k++) results[k] = @NAME@_result(f_.get(), @NAME@_outputs[k], outputs[k]);
        return results;
    }

    /* The value of a shared variable, to be read or written in place between calls. */
    @NAME@_array &value(int number) { return *@NAME@_value(f_.get(), number); }

private:
    explicit @NAME@_model(@NAME@_function *f) : f_(f)
    {
        if (!f) throw @NAME@_error("these are not the weights of @NAME@");
    }
    struct Close {
        void operator()(@NAME@_function *f) const { @NAME@_close(f); }
    };
    std::unique_ptr<@NAME@_function, Close> f_;
};
