// Arrays as the kernels take them, and the checks at their boundary.
//
// Every array argument is bound with .noconvert(): without it an array of another type would be copied in silence, and
// what is written into the copy would be lost. `In` takes read-only and writable arrays, `Out` writable ones only. All are
// contiguous in C order.
//
// Kernels take arrays by reference to const, so that nothing of Python's is released while the lock is not held.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace suffice {

namespace nb = nanobind;

template <typename T, int ndim>
using In = nb::ndarray<nb::numpy, const T, nb::ndim<ndim>, nb::c_contig, nb::device::cpu>;
template <typename T, int ndim>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<ndim>, nb::c_contig, nb::device::cpu>;

using InInts = In<std::int64_t, 1>;
using InFloats = In<double, 1>;
using OutInts = Out<std::int64_t, 1>;
using OutFloats = Out<double, 1>;

// An array that a kernel makes.
template <typename T>
using Made = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using WithoutLock = nb::call_guard<nb::gil_scoped_release>;

// Return an array that owns the values of a vector, without a copy. The caller holds the lock.
template <typename T>
inline Made<T> to_array(std::vector<T> &&values) {
    auto *held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void *vector) noexcept { delete static_cast<std::vector<T> *>(vector); });
    return Made<T>(held->data(), {held->size()}, owner);
}

// Raise a ValueError unless the condition holds.
inline void require(bool condition, const char *message) {
    if (!condition) throw std::invalid_argument(message);
}

// Raise a ValueError unless an array has the length that a kernel relies on.
template <typename Array>
inline void require_length(const Array &array, std::int64_t length, const char *name) {
    if (static_cast<std::int64_t>(array.shape(0)) != length)
        throw std::invalid_argument(std::string(name) + " has the length " + std::to_string(array.shape(0)) + ", not " +
                                    std::to_string(length));
}

// Raise a ValueError unless an array has the shape that a kernel relies on.
template <typename Array>
inline void require_shape(const Array &array, std::initializer_list<std::int64_t> shape, const char *name) {
    std::string found, wanted;
    bool same = true;
    std::size_t axis = 0;
    for (const std::int64_t n : shape) same &= static_cast<std::int64_t>(array.shape(axis++)) == n;
    if (same) return;
    axis = 0;
    for (const std::int64_t n : shape) {
        found += (axis ? ", " : "") + std::to_string(array.shape(axis));
        wanted += (axis ? ", " : "") + std::to_string(n);
        ++axis;
    }
    throw std::invalid_argument(std::string(name) + " has the shape (" + found + "), not (" + wanted + ")");
}

// Raise a ValueError unless an array has at least so many entries.
template <typename Array>
inline void require_room(const Array &array, std::int64_t length, const char *name) {
    if (static_cast<std::int64_t>(array.size()) < length)
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(array.size()) +
                                    " entries and needs at least " + std::to_string(length));
}

// Raise a ValueError if what is written would change what was checked before.
template <typename Input, typename Output>
inline void require_apart(const Input &input, const Output &output, const char *names) {
    const auto from = reinterpret_cast<std::uintptr_t>(input.data());
    const auto to = reinterpret_cast<std::uintptr_t>(output.data());
    if (input.size() > 0 && output.size() > 0 && from < to + output.nbytes() && to < from + input.nbytes())
        throw std::invalid_argument(std::string(names) + " must not share memory");
}

// Raise an IndexError unless all values lie in lo <= value < hi.
template <typename T>
inline void require_range(const T *values, std::int64_t n, std::int64_t lo, std::int64_t hi, const char *name) {
    bool inside = true;  // no early exit, so that the loop can be vectorised
    for (std::int64_t i = 0; i < n; ++i)
        inside &= static_cast<std::int64_t>(values[i]) >= lo && static_cast<std::int64_t>(values[i]) < hi;
    if (!inside)
        throw std::out_of_range(std::string(name) + " has values outside of " + std::to_string(lo) + " to " +
                                std::to_string(hi - 1));
}

// Raise an IndexError unless all codes are below the number of states; negative ones are missing values.
template <typename T>
inline void require_codes(const T *codes, std::int64_t n, std::int64_t n_states, const char *name) {
    T top = -1;
    for (std::int64_t i = 0; i < n; ++i) top = codes[i] > top ? codes[i] : top;
    if (static_cast<std::int64_t>(top) >= n_states)
        throw std::out_of_range(std::string(name) + " has the code " + std::to_string(top) + " of " +
                                std::to_string(n_states) + " states");
}

// Raise an IndexError unless `at` has n + 1 entries that begin with 0 or more, do not fall, and end within `limit`.
inline void require_offsets(const InInts &at, std::int64_t n, std::int64_t limit, const char *name) {
    require_length(at, n + 1, name);
    bool rising = at.data()[0] >= 0 && at.data()[n] <= limit;
    for (std::int64_t i = 0; i < n; ++i) rising &= at.data()[i] <= at.data()[i + 1];
    if (!rising)
        throw std::out_of_range(std::string(name) + " must rise from 0 to at most " + std::to_string(limit));
}

// Raise an IndexError unless n + 1 numbers begin with 0 or more, do not fall, and end within `limit`.
inline void require_rising(const std::int64_t *at, std::int64_t n, std::int64_t limit, const char *name) {
    bool rising = at[0] >= 0 && at[n] <= limit;
    for (std::int64_t i = 0; i < n; ++i) rising &= at[i] <= at[i + 1];
    if (!rising)
        throw std::out_of_range(std::string(name) + " must rise from 0 to at most " + std::to_string(limit));
}

// Raise an IndexError unless all indices lie in 0 <= index < limit: require_range without widening short integers.
template <typename T>
inline void require_indices(const T *indices, std::int64_t n, std::int64_t limit, const char *name) {
    using Bits = std::make_unsigned_t<T>;
    bool inside = true;
    if constexpr (std::is_signed_v<T>) {  // the first bit of either number is set when an index lies outside
        const std::int64_t largest = std::min<std::int64_t>(limit - 1, std::numeric_limits<T>::max());
        Bits seen = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const Bits index = static_cast<Bits>(indices[i]);
            seen |= index | static_cast<Bits>(static_cast<Bits>(largest) - index);
        }
        inside = static_cast<T>(seen) >= 0;
    } else {
        Bits largest = 0;
        for (std::int64_t i = 0; i < n; ++i) largest = indices[i] > largest ? indices[i] : largest;
        inside = n == 0 || static_cast<std::int64_t>(largest) < limit;
    }
    if (!inside)
        throw std::out_of_range(std::string(name) + " has values outside of 0 to " + std::to_string(limit - 1));
}

}  // namespace suffice
