// Scores of rows under classes, a few rows at a time, all of them in the cache.
//
//     n, p    rows, inputs
//     K       classes
//
// Numbers are transposed, TILE rows at a time, so that the innermost loop runs over rows and needs no sums of
// neighbours. A NaN, or a negative code, is a missing input: its factor is left out of the product. Twin of all scores:
// one_row in tests/models/test_class_scoring.py.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;
using InMatrix = In<double, 2>;
using OutMatrix = Out<double, 2>;

constexpr Int TILE = 64, FEW = 32;
using Totals = std::array<double, TILE>;
using Bits = std::uint64_t;

// Sizes, rows and scores of a call.
struct Job {
    const double *x, *start;
    double *out;
    Int n, p, n_classes;
};

Job job_of(const InMatrix &x, const InFloats &start, const OutMatrix &out) {
    const Int n = x.shape(0), p = x.shape(1), n_classes = start.shape(0);
    require_shape(out, {n, n_classes}, "out");
    return {x.data(), start.data(), out.data(), n, p, n_classes};
}

// Write some rows less a centre as columns of a tile, shape (p, TILE).
SUFFICE_INLINE void fill_tile(const Job &job, const double *centre, Int low, Int m, double *__restrict tile) {
    for (Int r = 0; r < m; ++r) {
        const double *row = job.x + (low + r) * job.p;
        for (Int j = 0; j < job.p; ++j) tile[j * TILE + r] = row[j] - centre[j];
    }
}

// w_0 x_0 + … + w_3 x_3 of four neighbouring columns of a tile, in one row of it.
SUFFICE_INLINE double sum_four(const double *x, double w0, double w1, double w2, double w3) {
    return (w0 * x[0] + w1 * x[TILE]) + (w2 * x[2 * TILE] + w3 * x[3 * TILE]);
}

// totals += Σ_j weight_j · column_j, several columns at a time, so that totals are read and written less often.
SUFFICE_INLINE void add_columns(const double *__restrict tile, const double *weights, Int stride, Int n_columns,
                                Totals &totals) {
    const double *x = tile, *w = weights;
    Int j = 0;
    for (; j + 8 <= n_columns; j += 8, x += 8 * TILE, w += 8 * stride) {
        const double a = w[0], b = w[stride], c = w[2 * stride], d = w[3 * stride];
        const double e = w[4 * stride], f = w[5 * stride], g = w[6 * stride], h = w[7 * stride];
        for (Int r = 0; r < TILE; ++r)
            totals[r] = (totals[r] + sum_four(x + r, a, b, c, d)) + sum_four(x + r + 4 * TILE, e, f, g, h);
    }
    for (; j + 4 <= n_columns; j += 4, x += 4 * TILE, w += 4 * stride) {
        const double a = w[0], b = w[stride], c = w[2 * stride], d = w[3 * stride];
        for (Int r = 0; r < TILE; ++r) totals[r] += sum_four(x + r, a, b, c, d);
    }
    for (; j < n_columns; ++j, x += TILE, w += stride) {
        const double a = w[0];
        for (Int r = 0; r < TILE; ++r) totals[r] += a * x[r];
    }
}

// Independent normal inputs: start_k + Σ_j (h_kj − a_kj (x_j − μ_kj)² / 2) --------------------------------------------

// Write some rows as columns of a tile; return whether none of the numbers is NaN.
SUFFICE_INLINE bool fill_plain_tile(const Job &job, Int low, Int m, double *__restrict tile) {
    bool whole = true;
    for (Int r = 0; r < m; ++r) {
        const double *row = job.x + (low + r) * job.p;
        for (Int j = 0; j < job.p; ++j) {
            tile[j * TILE + r] = row[j];
            whole &= row[j] == row[j];
        }
    }
    return whole;
}

// totals = Σ_j −a_j (x_j − μ_j)² / 2, if no input is missing.
SUFFICE_INLINE void sum_distances(const double *__restrict tile, const double *mean, const double *precision, Int p,
                                  Totals &totals) {
    for (Int low = 0; low < TILE; low += FEW) {
        double sums[FEW] = {};
        for (Int j = 0; j < p; ++j) {
            const double *column = tile + j * TILE + low;
            const double mu = mean[j], a = -0.5 * precision[j];
            for (Int r = 0; r < FEW; ++r) {
                const double d = column[r] - mu;
                sums[r] += d * d * a;
            }
        }
        for (Int r = 0; r < FEW; ++r) totals[low + r] = sums[r];
    }
}

// totals = Σ_j (h_j − a_j (x_j − μ_j)² / 2) over the inputs that are not NaN. The others add zero, which changes no bit
// of a sum that began with zero. Their bits are masked, since compilers do not vectorise a choice between sums.
SUFFICE_INLINE void sum_present(const double *__restrict tile, const double *mean, const double *precision,
                                const double *height, Int p, Totals &totals) {
    totals.fill(0.0);
    for (Int j = 0; j < p; ++j) {
        const double *column = tile + j * TILE;
        const double mu = mean[j], a = -0.5 * precision[j], h = height[j];
        for (Int r = 0; r < TILE; ++r) {
            const double d = column[r] - mu;
            double term = h + d * d * a;
            Bits bits;
            std::memcpy(&bits, &term, sizeof bits);
            bits &= column[r] == column[r] ? ~Bits(0) : Bits(0);
            std::memcpy(&term, &bits, sizeof bits);
            totals[r] += term;
        }
    }
}

SUFFICE_INLINE void score_diagonal(Job job, const double *mean, const double *precision, const double *height,
                                   double *tile) {
    Totals totals;
    for (Int low = 0; low < job.n; low += TILE) {
        const Int m = std::min(TILE, job.n - low);
        const bool whole = fill_plain_tile(job, low, m, tile);
        for (Int k = 0; k < job.n_classes; ++k) {
            const Int at = k * job.p;
            double top = job.start[k];
            if (whole) {
                for (Int j = 0; j < job.p; ++j) top += height[at + j];
                sum_distances(tile, mean + at, precision + at, job.p, totals);
            } else {
                sum_present(tile, mean + at, precision + at, height + at, job.p, totals);
            }
            for (Int r = 0; r < m; ++r) job.out[(low + r) * job.n_classes + k] = top + totals[r];
        }
    }
}

void fill_diagonal_scores(const InMatrix &x, const InMatrix &mean, const InMatrix &precision, const InMatrix &height,
                          const InFloats &start, const OutMatrix &out) {
    const Job job = job_of(x, start, out);
    require_shape(mean, {job.n_classes, job.p}, "mean");
    require_shape(precision, {job.n_classes, job.p}, "precision");
    require_shape(height, {job.n_classes, job.p}, "height");
    std::vector<double> tile(job.p * TILE);
    levels::run<score_diagonal>(job, mean.data(), precision.data(), height.data(), tile.data());
}

// Linear scores: start_k + Σ_j W_jk (x_j − c_j) -----------------------------------------------------------------------

SUFFICE_INLINE void score_linear(Job job, const double *centre, const double *weights, double *tile) {
    Totals totals;
    for (Int low = 0; low < job.n; low += TILE) {
        const Int m = std::min(TILE, job.n - low);
        fill_tile(job, centre, low, m, tile);
        for (Int k = 0; k < job.n_classes; ++k) {
            totals.fill(job.start[k]);
            add_columns(tile, weights + k, job.n_classes, job.p, totals);
            for (Int r = 0; r < m; ++r) job.out[(low + r) * job.n_classes + k] = totals[r];
        }
    }
}

void fill_linear_scores(const InMatrix &x, const InFloats &centre, const InMatrix &weights, const InFloats &start,
                        const OutMatrix &out) {
    const Job job = job_of(x, start, out);
    require_length(centre, job.p, "centre");
    require_shape(weights, {job.p, job.n_classes}, "weights");
    std::vector<double> tile(job.p * TILE);
    levels::run<score_linear>(job, centre.data(), weights.data(), tile.data());
}

// Normal inputs with a covariance per class: start_k − |R_k (x − c) − s_k|² / 2 ---------------------------------------

// Add the whole fours of columns to the totals of two rows of a factor at once, so that a tile is read half as often.
SUFFICE_INLINE void add_fours(const double *__restrict tile, const double *v, const double *w, Int n_columns,
                              Totals &totals, Totals &others) {
    for (Int j = 0; j < n_columns; j += 4, tile += 4 * TILE) {
        const double a = v[j], b = v[j + 1], c = v[j + 2], d = v[j + 3];
        const double e = w[j], f = w[j + 1], g = w[j + 2], h = w[j + 3];
        for (Int r = 0; r < TILE; ++r) {
            totals[r] += sum_four(tile + r, a, b, c, d);
            others[r] += sum_four(tile + r, e, f, g, h);
        }
    }
}

// Add the squares of one row of R_k (x − c) − s_k, of which the sum over the first columns is known.
SUFFICE_INLINE void add_square(const double *tile, const double *factor, Int low, Int high, Totals &white,
                               Totals &totals) {
    add_columns(tile + low * TILE, factor + low, 1, high - low, white);
    for (Int r = 0; r < TILE; ++r) totals[r] += white[r] * white[r];
}

SUFFICE_INLINE void score_triangular(Job job, const double *centre, const double *factors, const double *shift,
                                     double *tile) {
    Totals white, next, totals;
    const Int p = job.p;
    for (Int low = 0; low < job.n; low += TILE) {
        const Int m = std::min(TILE, job.n - low);
        fill_tile(job, centre, low, m, tile);
        for (Int k = 0; k < job.n_classes; ++k) {
            const double *factor = factors + k * p * p, *about = shift + k * p;
            totals.fill(0.0);
            for (Int i = 0; i < p; i += 2, factor += 2 * p) {
                const Int whole = (i + 1) / 4 * 4, last = std::min(i + 1, p - 1);
                white.fill(-about[i]);
                next.fill(-about[last]);
                add_fours(tile, factor, factor + (last - i) * p, whole, white, next);
                add_square(tile, factor, whole, i + 1, white, totals);
                if (last > i) add_square(tile, factor + p, whole, i + 2, next, totals);
            }
            for (Int r = 0; r < m; ++r) job.out[(low + r) * job.n_classes + k] = job.start[k] - 0.5 * totals[r];
        }
    }
}

void fill_triangular_scores(const InMatrix &x, const InFloats &centre, const In<double, 3> &factors,
                            const InMatrix &shift, const InFloats &start, const OutMatrix &out) {
    const Job job = job_of(x, start, out);
    require_length(centre, job.p, "centre");
    require_shape(factors, {job.n_classes, job.p, job.p}, "factors");
    require_shape(shift, {job.n_classes, job.p}, "shift");
    std::vector<double> tile(job.p * TILE);
    levels::run<score_triangular>(job, centre.data(), factors.data(), shift.data(), tile.data());
}

SUFFICE_INLINE void score_whitened(const double *z, const double *shift, const double *start, double *__restrict totals,
                                   double *out, Int n, Int p, Int n_classes) {
    for (Int k = 0; k < n_classes; ++k) {
        std::fill_n(totals, n, 0.0);
        for (Int j = 0; j < p; ++j) {
            const double *__restrict column = z + (k * p + j) * n;
            const double about = shift[k * p + j];
            for (Int r = 0; r < n; ++r) {
                const double d = column[r] - about;
                totals[r] += d * d;
            }
        }
        for (Int r = 0; r < n; ++r) out[r * n_classes + k] = start[k] - 0.5 * totals[r];
    }
}

void fill_whitened_scores(const InMatrix &z, const InMatrix &shift, const InFloats &start, const OutMatrix &out) {
    const Int n_classes = shift.shape(0), p = shift.shape(1), n = z.shape(1);
    require_shape(z, {n_classes * p, n}, "z");
    require_length(start, n_classes, "start");
    require_shape(out, {n, n_classes}, "out");
    std::vector<double> totals(n);
    levels::run<score_whitened>(z.data(), shift.data(), start.data(), totals.data(), out.data(), n, p, n_classes);
}

// Independent discrete inputs: start_k + Σ_j T[first_j + code_j, k] ---------------------------------------------------

// Fill the scores of one row under some neighbouring classes, whose sums stay in registers.
template <int width>
SUFFICE_INLINE void add_cells(const Int *cells, Int n, const double *tables, const double *start, double *out) {
    double sums[width];
    for (int k = 0; k < width; ++k) sums[k] = start[k];
    for (Int j = 0; j < n; ++j)
        for (int k = 0; k < width; ++k) sums[k] += tables[cells[j] + k];
    for (int k = 0; k < width; ++k) out[k] = sums[k];
}

// Return whether all codes are inside of the tables. `cells` is room for p numbers.
template <typename T>
SUFFICE_INLINE bool score_tables(const T *codes, const Int *first, const double *tables, const double *start,
                                 Int *cells, double *out, Int n, Int p, Int n_classes, Int n_cells) {
    const auto width = static_cast<Bits>(n_classes);
    for (Int i = 0; i < n; ++i, codes += p, out += n_classes) {
        Int m = 0;
        bool inside = true;
        for (Int j = 0; j < p; ++j) {  // where the cells of the inputs that are not missing begin
            const Int code = static_cast<Int>(codes[j]);
            // Without signs: codes that are left out, or refused below, may lead anywhere.
            cells[m] = static_cast<Int>((static_cast<Bits>(first[j]) + static_cast<Bits>(code)) * width);
            m += code >= 0;
            inside &= code < n_cells - first[j] || code < 0;
        }
        if (!inside) return false;
        Int k = 0;
        for (; k + 8 <= n_classes; k += 8) add_cells<8>(cells, m, tables + k, start + k, out + k);
        if (k + 4 <= n_classes) add_cells<4>(cells, m, tables + k, start + k, out + k), k += 4;
        if (k + 2 <= n_classes) add_cells<2>(cells, m, tables + k, start + k, out + k), k += 2;
        if (k < n_classes) add_cells<1>(cells, m, tables + k, start + k, out + k);
    }
    return true;
}

template <typename T>
void fill_table_scores(const In<T, 2> &codes, const InInts &first, const InMatrix &tables, const InFloats &start,
                       const OutMatrix &out) {
    const Int n = codes.shape(0), p = codes.shape(1), n_classes = start.shape(0), n_cells = tables.shape(0);
    require_length(first, p, "first");
    require_shape(tables, {n_cells, n_classes}, "tables");
    require_shape(out, {n, n_classes}, "out");
    require_range(first.data(), p, 0, n_cells + 1, "first");
    std::vector<Int> cells(p);
    if (!levels::run<score_tables<T>>(codes.data(), first.data(), tables.data(), start.data(), cells.data(), out.data(),
                                      n, p, n_classes, n_cells))
        throw std::out_of_range("codes lead past the end of tables");
}

// The best class. Twin: argmax of NumPy.

void find_largest(const InMatrix &scores, const OutInts &out) {
    const Int n = scores.shape(0), n_classes = scores.shape(1);
    require_length(out, n, "out");
    require(n == 0 || n_classes > 0, "scores has no columns");
    for (Int i = 0; i < n; ++i) {
        const double *row = scores.data() + i * n_classes;
        double best = row[0];
        Int place = 0;
        for (Int k = 1; k < n_classes; ++k) {
            const bool better = row[k] > best;
            best = better ? row[k] : best;
            place = better ? k : place;
        }
        out.data()[i] = place;
    }
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
void bind_tables(nb::module_ &m) {
    m.def("fill_table_scores", &fill_table_scores<T>, nb::arg("codes").noconvert(), nb::arg("first").noconvert(),
          nb::arg("tables").noconvert(), nb::arg("start").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          R"(Fill start_k + Σ_j T[first_j + code_j, k]; a negative code adds nothing.

Parameters
----------
codes : array of signed integers, shape (n, p)
first : int64 array, shape (p,)
    Where the states of each input begin among the rows of ``tables``.
tables : array, shape (Σ states, K)
start : array, shape (K,)
out : array, shape (n, K))");
}

}  // namespace

NB_MODULE(classify, m) {
    m.doc() = "Scores of rows under classes, and the best class.";
    m.def("fill_diagonal_scores", &fill_diagonal_scores, nb::arg("x").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("precision").noconvert(), nb::arg("height").noconvert(), nb::arg("start").noconvert(),
          nb::arg("out").noconvert(), WithoutLock(),
          R"(Fill start_k + Σ_j (h_kj − a_kj (x_j − μ_kj)² / 2), the sum over the inputs that are not NaN.

Parameters
----------
x : array, shape (n, p)
mean, precision, height : arrays, shape (K, p)
start : array, shape (K,)
out : array, shape (n, K))");
    m.def("fill_linear_scores", &fill_linear_scores, nb::arg("x").noconvert(), nb::arg("centre").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("start").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          R"(Fill start_k + Σ_j W_jk (x_j − c_j).

Parameters
----------
x : array, shape (n, p)
centre : array, shape (p,)
weights : array, shape (p, K)
start : array, shape (K,)
out : array, shape (n, K))");
    m.def("fill_triangular_scores", &fill_triangular_scores, nb::arg("x").noconvert(), nb::arg("centre").noconvert(),
          nb::arg("factors").noconvert(), nb::arg("shift").noconvert(), nb::arg("start").noconvert(),
          nb::arg("out").noconvert(), WithoutLock(),
          R"(Fill start_k − |R_k (x − c) − s_k|² / 2, of whose factors R_k only the lower triangles are read.

Parameters
----------
x : array, shape (n, p)
centre : array, shape (p,)
factors : array, shape (K, p, p)
shift : array, shape (K, p)
start : array, shape (K,)
out : array, shape (n, K))");
    m.def("fill_whitened_scores", &fill_whitened_scores, nb::arg("z").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("start").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          R"(Fill start_k − Σ_j (z_kj − s_kj)² / 2 of rows that were whitened already.

Parameters
----------
z : array, shape (K · p, n)
shift : array, shape (K, p)
start : array, shape (K,)
out : array, shape (n, K))");
    bind_tables<std::int8_t>(m);
    bind_tables<std::int16_t>(m);
    bind_tables<std::int32_t>(m);
    bind_tables<std::int64_t>(m);
    m.def("find_largest", &find_largest, nb::arg("scores").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Fill ``out``, shape (n,), with the place of each row's largest score, of equal ones the first.");
}
