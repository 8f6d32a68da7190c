// Nests of loops over a table and a part of its variables, over flat buffers.
//
// A table is a range of a buffer, its last variable varying fastest; all scopes list their variables in one common order.
// Whatever happens between a table and one over a part of its variables is then the same nest of loops with two strides,
// in which neighbouring variables that are both in the part, or both outside, are merged into one long loop.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace suffice {

using Int = std::int64_t;

constexpr Int MAX_LOOPS = 256;
constexpr double INF = std::numeric_limits<double>::infinity();

// One loop: its length, and its strides in the table and in the part. In arrays a loop is a row of three numbers.
struct Loop {
    Int n, stride, part_stride;
};
static_assert(sizeof(Loop) == 3 * sizeof(Int), "a loop is a row of three numbers");

// What is done to each pair of a table's cell and a part's cell.
enum class Op { assign, multiply, add, sum_out, max_out, exp_out, gather, divide, weighted_out };

struct FoundLoops {
    Int end, offset;
};

// Write the loops over the free variables of a table and of a part of it; return their end, and an offset.
//
// Observed variables (`codes` not negative) are no loop. The table holds them unless it is `dense`; the offset is where the
// slice begins. The part never holds them.
inline FoundLoops find_loops(const Int *scope, Int lo, Int hi, const Int *part, Int part_lo, Int part_hi,
                             const Int *sizes, const Int *codes, bool dense, Loop *loops, Int at) {
    Int end = at, offset = 0, stride = 1, part_stride = 1;
    Int j = part_hi - 1;
    for (Int i = hi - 1; i >= lo; --i) {
        const Int variable = scope[i], size = sizes[variable];
        const bool inside = j >= part_lo && part[j] == variable;
        if (inside) --j;
        if (codes[variable] >= 0) {
            if (!dense) {
                offset += codes[variable] * stride;
                stride *= size;
            }
            continue;
        }
        if (size > 1) {
            const Int step = inside ? part_stride : 0;
            if (end > at && stride == loops[end - 1].stride * loops[end - 1].n &&
                step == loops[end - 1].part_stride * loops[end - 1].n) {
                loops[end - 1].n *= size;
            } else {
                loops[end] = {size, stride, step};
                ++end;
            }
        }
        stride *= size;
        if (inside) part_stride *= size;
    }
    if (end > at + 2) {  // the second loop is the longest of those that are not the innermost
        Int longest = at + 1;
        for (Int k = at + 2; k < end; ++k)
            if (loops[k].n > loops[longest].n) longest = k;
        std::swap(loops[at + 1], loops[longest]);
    }
    return {end, offset};
}

// Σ values, in four parts that run side by side.
inline double sum_range(const double *values, Int lo, Int hi) {
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    Int i = lo;
    for (; i + 4 <= hi; i += 4) {
        a += values[i];
        b += values[i + 1];
        c += values[i + 2];
        d += values[i + 3];
    }
    for (; i < hi; ++i) a += values[i];
    return (a + b) + (c + d);
}

// The two innermost loops: n1 and n2 steps, with strides (b1, s1) and (b2, s2). Pairs are common, since most variables are
// yes or no, and a loop of two is not worth a loop. The buffers never overlap.
namespace block {

inline void multiply(double *__restrict big, Int b2, const double *__restrict sub, Int s1, Int s2, Int n1, Int n2) {
    if (n1 == 2) {
        for (Int j = 0; j < n2; ++j) {
            double *p = big + j * b2;
            const double *q = sub + j * s2;
            p[0] *= q[0];
            p[1] *= q[s1];
        }
    } else if (s1 == 1) {
        for (Int j = 0; j < n2; ++j) {
            double *__restrict p = big + j * b2;
            const double *__restrict q = sub + j * s2;
            for (Int i = 0; i < n1; ++i) p[i] *= q[i];
        }
    } else {
        for (Int j = 0; j < n2; ++j) {
            double *__restrict p = big + j * b2;
            const double value = sub[j * s2];
            for (Int i = 0; i < n1; ++i) p[i] *= value;
        }
    }
}

inline void sum_out(const double *__restrict big, Int b2, double *__restrict sub, Int s1, Int s2, Int n1, Int n2) {
    if (n1 == 2) {
        for (Int j = 0; j < n2; ++j) {
            const double *p = big + j * b2;
            double *q = sub + j * s2;
            q[0] += p[0];
            q[s1] += p[1];
        }
    } else if (s1 == 1) {
        for (Int j = 0; j < n2; ++j) {
            const double *__restrict p = big + j * b2;
            double *__restrict q = sub + j * s2;
            for (Int i = 0; i < n1; ++i) q[i] += p[i];
        }
    } else {
        for (Int j = 0; j < n2; ++j) sub[j * s2] += sum_range(big, j * b2, j * b2 + n1);
    }
}

inline void assign(double *__restrict big, Int b2, const double *__restrict sub, Int s1, Int s2, Int n1, Int n2) {
    for (Int j = 0; j < n2; ++j) {
        double *p = big + j * b2;
        const double *q = sub + j * s2;
        if (s1 == 1)
            std::copy(q, q + n1, p);
        else
            std::fill(p, p + n1, q[0]);
    }
}

inline void add(double *__restrict big, Int b2, const double *__restrict sub, Int s1, Int s2, Int n1, Int n2) {
    for (Int j = 0; j < n2; ++j) {
        double *__restrict p = big + j * b2;
        const double *__restrict q = sub + j * s2;
        if (s1 == 1) {
            for (Int i = 0; i < n1; ++i) p[i] += q[i];
        } else if (s1 == 0) {
            const double value = q[0];
            for (Int i = 0; i < n1; ++i) p[i] += value;
        } else {
            for (Int i = 0; i < n1; ++i) p[i] += q[i * s1];
        }
    }
}

// Add table × weight to a part; the weights are laid out like the table.
inline void weighted_out(const double *big, Int b1, Int b2, double *sub, Int s1, Int s2, const double *weight, Int n1,
                         Int n2) {
    for (Int j = 0; j < n2; ++j) {
        const double *p = big + j * b2, *w = weight + j * b2;
        double *q = sub + j * s2;
        if (s1 == 0) {
            double value = 0.0;
            for (Int i = 0; i < n1; ++i) value += p[i] * w[i];
            q[0] += value;
        } else {
            for (Int i = 0; i < n1; ++i) q[i * s1] += p[i * b1] * w[i * b1];
        }
    }
}

}  // namespace block

// Do one operation over a nest of loops.
//
// `big` and `sub` point to where the table and the part begin. Operations that write into the table take a part that is
// read, and the others the reverse; `third` is the part's room for exp_out, where it begins like `sub`, and the weights of
// weighted_out, where it begins like `big`.
template <Op op, typename Big, typename Sub, typename Third>
inline void sweep(Big *big, Sub *sub, Third *third, const Loop *loops, Int n_loops) {
    const Int n1 = n_loops > 0 ? loops[0].n : 1, b1 = n_loops > 0 ? loops[0].stride : 1;
    const Int s1 = n_loops > 0 ? loops[0].part_stride : 1;
    const Int n2 = n_loops > 1 ? loops[1].n : 1, b2 = n_loops > 1 ? loops[1].stride : 0;
    const Int s2 = n_loops > 1 ? loops[1].part_stride : 0;
    std::array<Int, MAX_LOOPS> digits;
    for (Int k = 2; k < n_loops; ++k) digits[k] = 0;
    Int b = 0, s = 0;
    while (true) {
        if constexpr (op == Op::multiply) {
            block::multiply(big + b, b2, sub + s, s1, s2, n1, n2);
        } else if constexpr (op == Op::sum_out) {
            block::sum_out(big + b, b2, sub + s, s1, s2, n1, n2);
        } else if constexpr (op == Op::assign) {
            block::assign(big + b, b2, sub + s, s1, s2, n1, n2);
        } else if constexpr (op == Op::add) {
            block::add(big + b, b2, sub + s, s1, s2, n1, n2);
        } else if constexpr (op == Op::weighted_out) {
            block::weighted_out(big + b, b1, b2, sub + s, s1, s2, third + b, n1, n2);
        } else {  // asked for more seldom; here the innermost stride of the table may be any
            for (Int j = 0; j < n2; ++j)
                for (Int i = 0; i < n1; ++i) {
                    const Int p = b + j * b2 + i * b1, q = s + j * s2 + i * s1;
                    if constexpr (op == Op::max_out) {
                        sub[q] = std::max(sub[q], big[p]);
                    } else if constexpr (op == Op::exp_out) {
                        if (big[p] > -INF) third[q] += std::exp(big[p] - sub[q]);
                    } else if constexpr (op == Op::gather) {
                        sub[q] = big[p];
                    } else {
                        sub[q] = big[p] > 0 ? sub[q] / big[p] : 0.0;
                    }
                }
        }
        Int k = 2;
        for (; k < n_loops; ++k) {
            ++digits[k];
            b += loops[k].stride;
            s += loops[k].part_stride;
            if (digits[k] < loops[k].n) break;
            digits[k] = 0;
            b -= loops[k].n * loops[k].stride;
            s -= loops[k].n * loops[k].part_stride;
        }
        if (k >= n_loops) return;
    }
}

inline void divide_range(double *values, Int n, double by) {
    for (Int i = 0; i < n; ++i) values[i] /= by;
}

// The smallest positive value, at most one.
inline double least_of(const double *values, Int n) {
    double lowest = 1.0;
    for (Int i = 0; i < n; ++i)
        if (0 < values[i] && values[i] < lowest) lowest = values[i];
    return lowest;
}

struct Rescaled {
    double top, floor;
};

// Divide a table by its largest value; return that value and the smallest positive one after it.
inline Rescaled rescale(double *table, Int n) {
    double top = 0.0;
    for (Int i = 0; i < n; ++i) top = std::max(top, table[i]);
    if (top > 0) divide_range(table, n, top);
    return {top, least_of(table, n)};
}

}  // namespace suffice
