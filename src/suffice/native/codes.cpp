// Codes of whole numbers that lie in a matrix, row after row.
#include "arrays.hpp"
#include "levels.hpp"

#include <algorithm>
#include <type_traits>

namespace suffice {

using Int = std::int64_t;

constexpr Int SMALL = 127;      // numbers below this have codes of eight bits
constexpr Int BLOCK_ROWS = 16;  // rows that stay in the first cache

// Copy numbers into codes; return whether all lie between 0 and 126: then neither they nor their successors have a bit
// beyond the seventh.
template <typename T>
SUFFICE_INLINE bool copy_small(const T *__restrict numbers, std::int8_t *__restrict codes, Int n) {
    using Bits = std::make_unsigned_t<T>;
    Bits bits = 0;
    for (Int i = 0; i < n; ++i) {
        const auto number = static_cast<Bits>(numbers[i]);
        bits = static_cast<Bits>(bits | number | static_cast<Bits>(number + 1));
        codes[i] = static_cast<std::int8_t>(numbers[i]);
    }
    return bits <= static_cast<Bits>(SMALL);
}

// Mark the codes of one row, four columns at a time.
inline void mark_row(const std::int8_t *row, Int p, bool *marks) {
    Int j = 0;
    for (; j + 4 <= p; j += 4, marks += 4 * SMALL) {
        marks[row[j]] = true;
        marks[row[j + 1] + SMALL] = true;
        marks[row[j + 2] + 2 * SMALL] = true;
        marks[row[j + 3] + 3 * SMALL] = true;
    }
    for (; j < p; ++j, marks += SMALL) marks[row[j]] = true;
}

// Copy small numbers into codes and mark those that occur. Twin: encode_by_columns in tests/native/test_codes.py.
template <typename T>
bool encode_small(const In<T, 2> &x, const Out<std::int8_t, 2> &codes, const Out<bool, 2> &present) {
    const Int n = x.shape(0), p = x.shape(1);
    require_shape(codes, {n, p}, "codes");
    require_shape(present, {p, SMALL}, "present");
    for (Int start = 0; start < n; start += BLOCK_ROWS) {
        const Int n_rows = std::min(BLOCK_ROWS, n - start);
        std::int8_t *block = codes.data() + start * p;
        if (!levels::run<copy_small<T>>(x.data() + start * p, block, n_rows * p)) return false;
        for (Int i = 0; i < n_rows; ++i) mark_row(block + i * p, p, present.data());
    }
    return true;
}

// Look up the codes of numbers whose states are known. Twin: encode_by_columns in tests/native/test_codes.py.
template <typename T, typename C>
Int encode_known(const In<T, 2> &x, const InInts &low, const In<C, 2> &tables, const Out<C, 2> &codes) {
    const Int n = x.shape(0), p = x.shape(1);
    const std::uint64_t width = tables.shape(1);
    require_length(low, p, "low");
    require_length(tables, p, "tables");
    require_shape(codes, {n, p}, "codes");
    Int n_unknown = 0;
    const T *__restrict row = x.data();
    C *__restrict out = codes.data();
    const Int *__restrict least = low.data();
    for (Int i = 0; i < n; ++i, row += p, out += p) {
        const C *__restrict table = tables.data();
        for (Int j = 0; j < p; ++j, table += width) {
            // Without signs, numbers below the least state are far beyond the table.
            const auto number = static_cast<std::uint64_t>(static_cast<Int>(row[j]));
            const std::uint64_t place = number - static_cast<std::uint64_t>(least[j]);
            const C code = place < width ? table[place] : C{-1};
            out[j] = code;
            n_unknown += code < 0;
        }
    }
    return n_unknown;
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T, typename C>
void bind_known(nb::module_ &m) {
    m.def("encode_known", &encode_known<T, C>, nb::arg("x").noconvert(), nb::arg("low").noconvert(),
          nb::arg("tables").noconvert(), nb::arg("codes").noconvert(), WithoutLock(),
          R"(Fill the codes of numbers whose states are known; return how many are no states, whose code is −1.

Parameters
----------
x : array of integers, shape (n, p)
low : array of int64, shape (p,)
    The least state of each column.
tables : array of int8, int16 or int32, shape (p, width)
    The code of the number ``low[j] + c`` is ``tables[j, c]``, −1 where there is no such state.
codes : array of the same type, shape (n, p)
    Output.)");
}

template <typename T>
void bind(nb::module_ &m) {
    m.def("encode_small", &encode_small<T>, nb::arg("x").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("present").noconvert(), WithoutLock(),
          R"(Copy numbers from 0 to 126 into codes, and mark those that occur in each column.

Return whether all numbers were such ones; where one was not, what was written is of no use.

Parameters
----------
x : array of integers, shape (n, p)
codes : array of int8, shape (n, p)
    Output.
present : array of bool, shape (p, 127)
    Output.)");
    bind_known<T, std::int8_t>(m);
    bind_known<T, std::int16_t>(m);
    bind_known<T, std::int32_t>(m);
}

}  // namespace

NB_MODULE(codes, m) {
    m.doc() = "Codes of whole numbers that lie in a matrix, row after row.";
    bind<std::int64_t>(m);
    bind<std::int32_t>(m);
    bind<std::int8_t>(m);
    bind<std::uint8_t>(m);
    bind<std::int16_t>(m);
    bind<std::uint16_t>(m);
    bind<std::uint32_t>(m);
}
