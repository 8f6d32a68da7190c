// Moments of the rows of a matrix, cell by cell, in one reading of every row.
//
//     n, p    rows and columns of a piece of the matrix
//     K       cells; `cell` has that of every row
//
// `weights` has one number per row, or none at all: then every row counts once. Rows without weight are left out,
// whatever they hold. Sums are taken over NEAR rows at a time first, so that rounding grows with the square root of
// few. Twins: exact fractions in tests/stats/test_matrix_pieces.py.
#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;
using InMatrix = In<double, 2>;
using OutMatrix = Out<double, 2>;

constexpr Int NEAR = 1024;

// Require a cell and, if there are weights at all, a weight of every row; cells must be in range where there is weight.
void require_cells(const InInts &cell, const InFloats &weights, Int n, Int n_cells) {
    require_length(cell, n, "cell");
    const Int *k = cell.data();
    const double *w = weights.data();
    bool inside = true;
    if (weights.shape(0) == 0) {
        for (Int i = 0; i < n; ++i) inside &= k[i] >= 0 && k[i] < n_cells;
    } else {
        require_length(weights, n, "weights");
        for (Int i = 0; i < n; ++i) inside &= !(w[i] > 0) || (k[i] >= 0 && k[i] < n_cells);
    }
    if (!inside) throw std::out_of_range("cell has values outside of 0 to " + std::to_string(n_cells - 1));
}

// Return whether all cells are in range.
template <bool weighted>
bool count_rows(const Int *cell, const double *weights, Int n, Int n_cells, Int *first, Int *n_rows, double *weight) {
    for (Int i = 0; i < n; ++i) {
        if (weighted && !(weights[i] > 0)) continue;
        const Int k = cell[i];
        if (static_cast<std::uint64_t>(k) >= static_cast<std::uint64_t>(n_cells)) return false;
        if (n_rows[k]++ == 0) first[k] = i;
        if (weighted) weight[k] += weights[i];
    }
    if (!weighted)
        for (Int k = 0; k < n_cells; ++k) weight[k] = static_cast<double>(n_rows[k]);
    return true;
}

void find_first_rows(const InInts &cell, const InFloats &weights, const OutInts &first, const OutInts &n_rows,
                     const OutFloats &weight) {
    const Int n = cell.shape(0), n_cells = first.shape(0);
    require_length(n_rows, n_cells, "n_rows");
    require_length(weight, n_cells, "weight");
    const bool weighted = weights.shape(0) > 0;
    if (weighted) require_length(weights, n, "weights");
    std::fill_n(first.data(), n_cells, -1);
    std::fill_n(n_rows.data(), n_cells, 0);
    std::fill_n(weight.data(), n_cells, 0.0);
    const auto count = weighted ? count_rows<true> : count_rows<false>;
    if (!count(cell.data(), weights.data(), n, n_cells, first.data(), n_rows.data(), weight.data()))
        throw std::out_of_range("cell has values outside of 0 to " + std::to_string(n_cells - 1));
}

// Add the sums of the last rows to the totals, and begin anew.
SUFFICE_INLINE void carry_over(double *__restrict total, double *__restrict near, Int size) {
    for (Int i = 0; i < size; ++i) {
        total[i] += near[i];
        near[i] = 0.0;
    }
}

SUFFICE_INLINE void add_row(const double *__restrict row, const double *__restrict centre, double *__restrict one,
                            double *__restrict two, Int p) {
    for (Int j = 0; j < p; ++j) {
        const double d = row[j] - centre[j];
        one[j] += d;
        two[j] += d * d;
    }
}

SUFFICE_INLINE void add_weighted_row(const double *__restrict row, const double *__restrict centre, double w,
                                     double *__restrict one, double *__restrict two, Int p) {
    for (Int j = 0; j < p; ++j) {
        const double d = row[j] - centre[j];
        one[j] += w * d;
        two[j] += w * d * d;
    }
}

struct Rows {
    const double *x;
    const Int *cell;
    const double *weights;  // null where every row counts once
    const double *centre;
    Int n, p, n_cells;
};

SUFFICE_INLINE void add_squares(Rows rows, double *near, double *near_squares, double *sums, double *squares) {
    const Int p = rows.p, size = rows.n_cells * p;
    for (Int low = 0; low < rows.n; low += NEAR) {
        for (Int i = low; i < std::min(low + NEAR, rows.n); ++i) {
            const double w = rows.weights ? rows.weights[i] : 1.0;
            if (!(w > 0)) continue;
            const Int at = rows.cell[i] * p;
            if (rows.weights)
                add_weighted_row(rows.x + i * p, rows.centre + at, w, near + at, near_squares + at, p);
            else
                add_row(rows.x + i * p, rows.centre + at, near + at, near_squares + at, p);
        }
        carry_over(sums, near, size);
        carry_over(squares, near_squares, size);
    }
}

Rows rows_of(const InMatrix &x, const InInts &cell, const InFloats &weights, const InMatrix &centre) {
    const Int n = x.shape(0), p = x.shape(1), n_cells = centre.shape(0);
    require_cells(cell, weights, n, n_cells);
    require_shape(centre, {n_cells, p}, "centre");
    return {x.data(), cell.data(), weights.shape(0) > 0 ? weights.data() : nullptr, centre.data(), n, p, n_cells};
}

void sum_shifted_squares(const InMatrix &x, const InInts &cell, const InFloats &weights, const InMatrix &centre,
                         const OutMatrix &sums, const OutMatrix &squares) {
    const Rows rows = rows_of(x, cell, weights, centre);
    require_shape(sums, {rows.n_cells, rows.p}, "sums");
    require_shape(squares, {rows.n_cells, rows.p}, "squares");
    const Int size = rows.n_cells * rows.p;
    std::vector<double> near(2 * size);
    std::fill_n(sums.data(), size, 0.0);
    std::fill_n(squares.data(), size, 0.0);
    levels::run<add_squares>(rows, near.data(), near.data() + size, sums.data(), squares.data());
}

SUFFICE_INLINE void shift_row(const double *__restrict row, const double *__restrict centre, double w,
                              double *__restrict out, double *__restrict one, Int p) {
    for (Int j = 0; j < p; ++j) {
        const double d = row[j] - centre[j];
        out[j] = d;
        one[j] += w * d;
    }
}

// Write rows one cell after the other; return whether there was room for all of them.
SUFFICE_INLINE bool write_shifted(Rows rows, Int *place, Int room, double *out, double *factors, double *near,
                                  double *sums) {
    const Int p = rows.p;
    for (Int low = 0; low < rows.n; low += NEAR) {
        for (Int i = low; i < std::min(low + NEAR, rows.n); ++i) {
            const double w = rows.weights ? rows.weights[i] : 1.0;
            if (!(w > 0)) continue;
            const Int k = rows.cell[i], at = place[k]++;
            if (at >= room) return false;
            if (rows.weights) factors[at] = w;
            shift_row(rows.x + i * p, rows.centre + k * p, w, out + at * p, near + k * p, p);
        }
        carry_over(sums, near, rows.n_cells * p);
    }
    return true;
}

void gather_shifted_rows(const InMatrix &x, const InInts &cell, const InFloats &weights, const InMatrix &centre,
                         const InInts &starts, const OutMatrix &gathered, const OutFloats &factors,
                         const OutMatrix &sums) {
    const Rows rows = rows_of(x, cell, weights, centre);
    require_shape(sums, {rows.n_cells, rows.p}, "sums");
    require_shape(gathered, {static_cast<Int>(gathered.shape(0)), rows.p}, "gathered");
    require_length(starts, rows.n_cells, "starts");
    const Int room = gathered.shape(0);
    if (rows.weights) require_room(factors, std::min(room, rows.n), "factors");
    require_apart(weights, factors, "weights and factors");
    require_range(starts.data(), rows.n_cells, 0, room + 1, "starts");
    std::vector<Int> place(starts.data(), starts.data() + rows.n_cells);
    std::vector<double> near(rows.n_cells * rows.p);
    std::fill_n(sums.data(), rows.n_cells * rows.p, 0.0);
    const Int limit = rows.weights ? std::min<Int>(room, factors.shape(0)) : room;
    require(levels::run<write_shifted>(rows, place.data(), limit, gathered.data(), factors.data(), near.data(),
                                       sums.data()),
            "gathered or factors has too few rows after starts");
}

}  // namespace suffice

NB_MODULE(moments, m) {
    using namespace suffice;
    m.doc() = "Moments of the rows of a matrix, cell by cell, in one reading of every row.";
    m.def("find_first_rows", &find_first_rows, nb::arg("cell").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("first").noconvert(), nb::arg("n_rows").noconvert(), nb::arg("weight").noconvert(), WithoutLock(),
          R"(Find the first row of every cell (−1 where there is none), how many rows it has, and their weight.

Parameters
----------
cell : int64 array, shape (n,)
weights : array, shape (n,) or (0,)
    None at all: every row counts once. Rows without weight are left out.
first, n_rows : int64 arrays, shape (K,)
weight : array, shape (K,))");
    m.def("sum_shifted_squares", &sum_shifted_squares, nb::arg("x").noconvert(), nb::arg("cell").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("centre").noconvert(), nb::arg("sums").noconvert(),
          nb::arg("squares").noconvert(), WithoutLock(),
          R"(Fill Σ w (x − c) and Σ w (x − c)² of every cell and column.

Parameters
----------
x : array, shape (n, p)
cell : int64 array, shape (n,)
weights : array, shape (n,) or (0,)
centre, sums, squares : arrays, shape (K, p))");
    m.def("gather_shifted_rows", &gather_shifted_rows, nb::arg("x").noconvert(), nb::arg("cell").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("centre").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("gathered").noconvert(), nb::arg("factors").noconvert(), nb::arg("sums").noconvert(), WithoutLock(),
          R"(Write x − c with the rows of one cell after those of another, and fill Σ w (x − c).

Parameters
----------
x : array, shape (n, p)
cell : int64 array, shape (n,)
weights : array, shape (n,) or (0,)
centre, sums : arrays, shape (K, p)
starts : int64 array, shape (K,)
    Where the rows of each cell begin.
gathered : array, shape (at least n, p)
factors : array, shape (at least n,), or (0,) without weights
    The weights in the same order.)");
}
