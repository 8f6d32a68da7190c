// Sums and products of long vectors, in one reading of them.
#include "arrays.hpp"

namespace suffice {

constexpr std::int64_t PIECE = 1024;

// result += factor · row; return resultᵀ other. The other vectors may have single precision. Twin: the plain
// expression in tests/native/test_vectors.py.
//
// Eight sums side by side: one alone would wait for every addition before the next.
template <typename T>
double add_then_dot(const OutFloats &result, double factor, const In<T, 1> &row, const In<T, 1> &other) {
    const std::int64_t n = result.shape(0);
    require_length(row, n, "row");
    require_length(other, n, "other");
    double total = 0.0;
    for (std::int64_t start = 0; start < n; start += PIECE) {
        const std::int64_t size = n - start < PIECE ? n - start : PIECE;
        double *own = result.data() + start;
        const T *step = row.data() + start, *by = other.data() + start;
        for (std::int64_t i = 0; i < size; ++i) own[i] += factor * step[i];
        double sums[8] = {};
        const std::int64_t even = size / 8 * 8;
        for (std::int64_t i = 0; i < even; i += 8)
            for (int k = 0; k < 8; ++k) sums[k] += own[i + k] * by[i + k];
        for (std::int64_t i = even; i < size; ++i) sums[0] += own[i] * by[i];
        total += ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    return total;
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
void bind(nb::module_ &m) {
    m.def("add_then_dot", &add_then_dot<T>, nb::arg("result").noconvert(), nb::arg("factor"), nb::arg("row").noconvert(),
          nb::arg("other").noconvert(), WithoutLock(),
          "Add ``factor`` times ``row`` to ``result``, and return its product with ``other`` then.");
}

}  // namespace

NB_MODULE(vectors, m) {
    m.doc() = "Sums and products of long vectors, in one reading of them.";
    bind<float>(m);
    bind<double>(m);
}
