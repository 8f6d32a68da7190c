// The graphical lasso, column by column: each is a lasso regression on the others, by coordinate descent.
//
//     S, A    covariance matrix and penalties, d × d; A is zero on the diagonal
//     W       the model's covariance matrix, whose diagonal is that of S
//     B       row j: coefficients of the regression of column j on the others, zero at j
//
// Twin: sweep_slowly in tests/native/test_graphical_lasso.py.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;
using InMatrix = In<double, 2>;
using OutMatrix = Out<double, 2>;

// to += factor · row.
SUFFICE_INLINE void add_multiple(double *__restrict to, double factor, const double *__restrict row, Int d) {
#if defined(__GNUC__)
#pragma GCC unroll 4
#endif
    for (Int i = 0; i < d; ++i) to[i] += factor * row[i];
}

// One column of the problem: s_j and A_j side by side in memory, and what all columns share.
struct Column {
    const double *s, *penalty, *w, *variances;
    Int j, d;
};

// Minimise ½ βᵀ W β − βᵀ s_j + Σ A_ij |β_i| over β with β_j = 0, from where it is; `fitted` becomes W β.
SUFFICE_INLINE void regress(Column of, double *own, double *fitted, double tol, Int most) {
    const Int d = of.d;
    std::fill(fitted, fitted + d, 0.0);
    for (Int t = 0; t < d; ++t)
        if (own[t] != 0.0) add_multiple(fitted, own[t], of.w + t * d, d);
    for (Int pass = 0; pass < most; ++pass) {
        double largest = 0.0;
        for (Int i = 0; i < d; ++i) {
            if (i == of.j) continue;
            const double variance = of.variances[i];
            const double aim = of.s[i] - fitted[i] + variance * own[i];
            const double value = std::max(std::abs(aim) - of.penalty[i], 0.0) / variance;
            const double change = (aim > 0 ? value : -value) - own[i];
            if (change != 0.0) {
                own[i] += change;
                add_multiple(fitted, change, of.w + i * d, d);
                largest = std::max(largest, std::abs(change) * variance);
            }
        }
        if (largest <= tol) return;
    }
}

// `room` has 4 d numbers.
SUFFICE_INLINE double sweep(const double *s, const double *penalty, double *w, double *b, double *room, Int d,
                            Int sweeps, Int most, double tol) {
    double *fitted = room, *own_s = room + d, *own_penalty = room + 2 * d, *variances = room + 3 * d;
    for (Int i = 0; i < d; ++i) variances[i] = w[i * d + i];
    double moved = 0.0;
    for (Int sweep = 0; sweep < sweeps; ++sweep) {
        moved = 0.0;
        for (Int j = 0; j < d; ++j) {
            for (Int i = 0; i < d; ++i) {
                own_s[i] = s[i * d + j];
                own_penalty[i] = penalty[i * d + j];
            }
            regress({own_s, own_penalty, w, variances, j, d}, b + j * d, fitted, tol, most);
            for (Int i = 0; i < d; ++i) {
                if (i == j) continue;
                moved = std::max(moved, std::abs(w[i * d + j] - fitted[i]));
                w[i * d + j] = w[j * d + i] = fitted[i];
            }
        }
        if (moved <= tol) break;
    }
    return moved;
}

double sweep_columns(const InMatrix &s, const InMatrix &penalty, const OutMatrix &w, const OutMatrix &b, Int sweeps,
                     Int most, double tol) {
    const Int d = s.shape(0);
    require_shape(s, {d, d}, "s");
    require_shape(penalty, {d, d}, "penalty");
    require_shape(w, {d, d}, "w");
    require_shape(b, {d, d}, "b");
    for (Int i = 0; i < d; ++i) require(w.data()[i * d + i] != 0.0, "w has a zero on its diagonal");
    std::vector<double> room(4 * d);
    return levels::run<sweep>(s.data(), penalty.data(), w.data(), b.data(), room.data(), d, sweeps, most, tol);
}

}  // namespace suffice

NB_MODULE(graphical_lasso, m) {
    using namespace suffice;
    m.doc() = "The graphical lasso, column by column.";
    m.def("sweep_columns", &sweep_columns, nb::arg("s").noconvert(), nb::arg("penalty").noconvert(),
          nb::arg("w").noconvert(), nb::arg("b").noconvert(), nb::arg("sweeps"), nb::arg("most"), nb::arg("tol"),
          WithoutLock(),
          R"(Regress every column on the others until ``w`` moves by at most ``tol``; return how far it moved last.

Parameters
----------
s, penalty : arrays, shape (d, d)
    Covariance matrix, and penalties, zero on the diagonal.
w, b : arrays, shape (d, d)
    The model's covariance matrix, and the coefficients of column j in row j; both are changed.
sweeps, most : int
    Most sweeps over all columns, and most passes over the coefficients of one regression.
tol : float)");
}
