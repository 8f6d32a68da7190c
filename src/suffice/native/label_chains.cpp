// Chains of labels in linear space: scores of positions from their attributes, scaled forward and backward passes, and
// what they add to sums.
//
// Labels are padded to a multiple of four, `width`; padded labels have potentials of zero. Attributes with many labels
// have a row of a dense table, the others a list of single weights. `starts` says where the attributes of each position
// begin; attributes are those of positions lo to hi. Values are empty where all are one. Twins are in
// tests/native/test_label_chains.py.
#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "exponentials.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;
using InTable = In<double, 2>;
using OutTable = Out<double, 2>;
using Codes = In<std::int32_t, 1>;

namespace chains {

// The loops -----------------------------------------------------------------------------------------------------------

SUFFICE_INLINE void add(double *__restrict to, const double *__restrict from, Int width) {
    for (Int k = 0; k < width; k += 4)
        for (int i = 0; i < 4; ++i) to[k + i] += from[k + i];
}

SUFFICE_INLINE void add_times(double *__restrict to, double factor, const double *__restrict from, Int width) {
    for (Int k = 0; k < width; k += 4)
        for (int i = 0; i < 4; ++i) to[k + i] += factor * from[k + i];
}

// Add to the scores of positions, (hi − lo, width), the rows of a table that their attributes have.
SUFFICE_INLINE void add_scores(const Int *starts, const std::int32_t *rows, const double *values, const double *table,
                               Int width, Int lo, Int hi, double *scores) {
    for (Int t = lo; t < hi; ++t) {
        double *own = scores + (t - lo) * width;
        for (Int at = starts[t]; at < starts[t + 1]; ++at) {
            const double *row = table + rows[at] * width;
            if (values == nullptr)
                add(own, row, width);
            else
                add_times(own, values[at], row, width);
        }
    }
}

// Add the probabilities of positions, (hi − lo, width), to the rows of a table that their attributes have.
SUFFICE_INLINE void add_rows(const Int *starts, const std::int32_t *rows, const double *values, const double *p,
                             Int width, Int lo, Int hi, double *table) {
    for (Int t = lo; t < hi; ++t) {
        const double *own = p + (t - lo) * width;
        for (Int at = starts[t]; at < starts[t + 1]; ++at) {
            double *row = table + rows[at] * width;
            if (values == nullptr)
                add(row, own, width);
            else
                add_times(row, values[at], own, width);
        }
    }
}

SUFFICE_INLINE double sum_columns(const double *values, Int width) {
    double sums[4] = {};
    for (Int k = 0; k < width; k += 4)
        for (int i = 0; i < 4; ++i) sums[i] += values[k + i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// out = factorsᵀ matrix, (width, width). Four rows at a time: each addition waits for the one before.
SUFFICE_INLINE void multiply(const double *__restrict factors, const double *__restrict matrix, Int width,
                             double *__restrict out) {
    std::fill(out, out + width, 0.0);
    for (Int i = 0; i < width; i += 4) {
        const double a = factors[i], b = factors[i + 1], c = factors[i + 2], d = factors[i + 3];
        const double *__restrict row = matrix + i * width;
        for (Int k = 0; k < width; k += 4)
            for (Int j = k; j < k + 4; ++j)
                out[j] += (a * row[j] + b * row[width + j]) + (c * row[2 * width + j] + d * row[3 * width + j]);
    }
}

SUFFICE_INLINE void scale_columns(double *values, double factor, Int width) {
    for (Int k = 0; k < width; k += 4)
        for (int i = 0; i < 4; ++i) values[k + i] *= factor;
}

// Set the padded labels of some positions to zero. A loop of its own: vectors are not read while a part of them is
// written.
SUFFICE_INLINE void clear_padding(double *values, Int n, Int n_labels, Int width) {
    if (n_labels == width) return;
    for (Int t = 0; t < n; ++t)
        for (Int k = n_labels; k < width; ++k) values[t * width + k] = 0.0;
}

// α_t = (α_{t−1}ᵀ step) ∘ ψ_t / total_t, and α_0 = ψ_0 / total_0.
SUFFICE_INLINE void forward(double *psi, const double *step, const Int *offsets, Int n_sequences, Int n_labels,
                            Int width, double *alpha, double *totals) {
    clear_padding(psi + offsets[0] * width, offsets[n_sequences] - offsets[0], n_labels, width);
    for (Int s = 0; s < n_sequences; ++s)
        for (Int t = offsets[s]; t < offsets[s + 1]; ++t) {
            double *__restrict now = alpha + t * width;
            const double *__restrict own = psi + t * width;
            if (t == offsets[s]) {
                std::copy(own, own + width, now);
            } else {
                multiply(now - width, step, width, now);
                for (Int k = 0; k < width; k += 4)
                    for (int i = 0; i < 4; ++i) now[k + i] *= own[k + i];  // eq forward
            }
            totals[t] = sum_columns(now, width);
            scale_columns(now, totals[t] > 0 ? 1.0 / totals[t] : 0.0, width);
        }
}

// p_t = α_t ∘ β_t · weight, and β_{t−1} = step (ψ_t ∘ β_t / total_t).
SUFFICE_INLINE void backward(double *psi, const double *turned, const Int *offsets, Int n_sequences, Int width,
                             const double *alpha, const double *totals, const double *weights, double *p,
                             double *__restrict beta) {
    for (Int s = 0; s < n_sequences; ++s) {
        const Int first = offsets[s];
        const double weight = weights == nullptr ? 1.0 : weights[s];
        std::fill(beta, beta + width, 1.0);
        for (Int t = offsets[s + 1] - 1; t >= first; --t) {
            double *__restrict own = psi + t * width;
            const double *__restrict now = alpha + t * width;
            double *__restrict out = p + t * width;
            for (Int k = 0; k < width; k += 4)
                for (int i = 0; i < 4; ++i) out[k + i] = now[k + i] * beta[k + i] * weight;  // eq backward
            if (t == first) {
                std::fill(own, own + width, 0.0);
                break;
            }
            const double scale = totals[t] > 0 ? 1.0 / totals[t] : 0.0;
            for (Int k = 0; k < width; k += 4)
                for (int i = 0; i < 4; ++i) own[k + i] *= beta[k + i] * scale;
            multiply(own, turned, width, beta);
            scale_columns(own, weight, width);
        }
    }
}

// What is needed of one sequence of `along`.
struct Gains {
    std::vector<double> past, future, sums;
    std::vector<Int> best;

    Gains(Int longest, Int k) : past(longest * k), future(longest * k), sums(k), best(longest) {}
};

// The probabilities of a sequence's steps, (n, K, K), which are written down and become their derivatives.
struct WrittenPairs {
    double *pairs;
    Int cells;

    SUFFICE_INLINE double *at(Int t) const { return pairs + t * cells; }
    SUFFICE_INLINE void keep(Int) const {}
};

// Those that `forward` and `backward` leave as factors: one matrix is made at a time, and derivatives are added up.
struct ScaledPairs {
    const double *alpha, *step, *psi;
    Int k, width;
    double *pair, *sums;

    SUFFICE_INLINE double *at(Int t) const {
        const double *before = alpha + (t - 1) * width, *now = psi + t * width;
        for (Int i = 0; i < k; ++i)
            for (Int j = 0; j < k; ++j) pair[i * k + j] = before[i] * step[i * width + j] * now[j];
        return pair;
    }
    SUFFICE_INLINE void keep(Int) const {
        for (Int c = 0; c < k * k; ++c) sums[c] += pair[c];
    }
};

// Derivatives of p and of pairs, which they replace, as scores and steps move along a direction: see `along` below.
template <typename Pairs>
SUFFICE_INLINE void along_sequence(Int n, Int k, Int width, double *__restrict p, const Pairs &pairs,
                                   const double *__restrict gains, const double *__restrict step_gains, Int stride,
                                   Gains &room) {
    double *__restrict past = room.past.data(), *__restrict future = room.future.data();
    double *__restrict sums = room.sums.data();
    Int *__restrict best = room.best.data();
    for (Int t = 0; t < n; ++t) best[t] = std::max_element(p + t * width, p + t * width + k) - (p + t * width);
    for (Int t = 0; t < n; ++t) {
        double *__restrict now = past + t * k;
        const double *gain = gains + t * width;
        std::fill(now, now + k, 0.0);
        if (t > 0) {
            const double *pair = pairs.at(t), *step = step_gains + t * stride, *before = now - k;
            const double middle = step[best[t - 1] * k + best[t]];
            std::fill(sums, sums + k, 0.0);
            for (Int i = 0; i < k; ++i)
                for (Int j = 0; j < k; ++j) {
                    now[j] += pair[i * k + j] * ((step[i * k + j] - middle) + before[i]);
                    sums[j] += pair[i * k + j];
                }
            for (Int j = 0; j < k; ++j) now[j] = sums[j] > 0 ? now[j] / sums[j] : 0.0;
        }
        for (Int j = 0; j < k; ++j) now[j] += gain[j] - gain[best[t]];
    }
    std::fill(future + (n - 1) * k, future + n * k, 0.0);
    for (Int t = n - 1; t > 0; --t) {
        const double *pair = pairs.at(t), *step = step_gains + t * stride, *gain = gains + t * width;
        const double *after = future + t * k;
        const double middle = step[best[t - 1] * k + best[t]];
        for (Int i = 0; i < k; ++i) {
            double total = 0.0, sum = 0.0;
            for (Int j = 0; j < k; ++j) {
                total += pair[i * k + j] * ((step[i * k + j] - middle) + (gain[j] - gain[best[t]]) + after[j]);
                sum += pair[i * k + j];
            }
            future[(t - 1) * k + i] = sum > 0 ? total / sum : 0.0;
        }
    }
    double mean = 0.0, whole = 0.0;
    for (Int j = 0; j < k; ++j) {
        mean += p[j] * (past[j] + future[j]);
        whole += p[j];
    }
    mean = whole > 0 ? mean / whole : 0.0;
    for (Int t = 0; t < n; ++t) {
        for (Int j = 0; j < k; ++j) p[t * width + j] *= past[t * k + j] + future[t * k + j] - mean;
        if (t == 0) continue;
        double *__restrict pair = pairs.at(t);
        const double *step = step_gains + t * stride, *gain = gains + t * width;
        const double middle = step[best[t - 1] * k + best[t]];
        for (Int i = 0; i < k; ++i)
            for (Int j = 0; j < k; ++j)
                pair[i * k + j] *= past[(t - 1) * k + i] + ((step[i * k + j] - middle) + (gain[j] - gain[best[t]])) +
                                   future[t * k + j] - mean;  // eq crf-curvature
        pairs.keep(t);
    }
}

SUFFICE_INLINE void along(const Int *offsets, Int n_sequences, Int k, Int width, double *p, double *pairs,
                          const double *gains, const double *step_gains, Int stride, Gains &room) {
    for (Int s = 0; s < n_sequences; ++s) {
        const Int first = offsets[s], n = offsets[s + 1] - first;
        if (n > 0)
            along_sequence(n, k, width, p + first * width, WrittenPairs{pairs + first * k * k, k * k},
                           gains + first * width, step_gains + first * stride, stride, room);
    }
}

SUFFICE_INLINE void along_scaled(const Int *offsets, Int n_sequences, Int k, Int width, const double *alpha,
                                 const double *step, const double *psi, double *p, const double *gains,
                                 const double *step_gain, double *transitions, double *pair, Gains &room) {
    for (Int s = 0; s < n_sequences; ++s) {
        const Int first = offsets[s] * width, n = offsets[s + 1] - offsets[s];
        if (n > 0)
            along_sequence(n, k, width, p + first,
                           ScaledPairs{alpha + first, step, psi + first, k, width, pair, transitions}, gains + first,
                           step_gain, 0, room);
    }
}

// The first of the largest values. Four run side by side; of zeros, which may differ in sign, the first is looked for
// anew.
SUFFICE_INLINE double largest_of(const double *values, Int n) {
    double tops[4] = {values[0], values[0], values[0], values[0]};
    Int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; ++i) tops[i] = tops[i] < values[k + i] ? values[k + i] : tops[i];
    for (; k < n; ++k) tops[0] = std::max(tops[0], values[k]);
    double top = std::max(std::max(tops[0], tops[1]), std::max(tops[2], tops[3]));
    if (top == 0) {
        top = values[0];
        for (k = 1; k < n; ++k) top = std::max(top, values[k]);
    }
    return top;
}

SUFFICE_INLINE void shift_scores(double *scores, Int n, Int n_labels, Int width, double *tops) {
    for (Int t = 0; t < n; ++t) {
        double *own = scores + t * width;
        const double top = largest_of(own, n_labels);
        for (Int k = 0; k < n_labels; ++k) own[k] -= top;
        tops[t] = top;
    }
}

SUFFICE_INLINE void normalise(double *psi, Int n, Int n_labels, Int width, double *totals, const double *weights) {
    clear_padding(psi, n, n_labels, width);
    for (Int t = 0; t < n; ++t) {
        double *own = psi + t * width;
        totals[t] = sum_columns(own, width);
        scale_columns(own, (weights == nullptr ? 1.0 : weights[t]) / totals[t], width);
    }
}

SUFFICE_INLINE void add_before(double *scores, Int width, const std::int32_t *labels, const Int *offsets,
                               Int n_sequences, const double *matrix, Int n_labels) {
    for (Int s = 0; s < n_sequences; ++s)
        for (Int t = offsets[s] + 1; t < offsets[s + 1]; ++t) {
            double *__restrict own = scores + t * width;
            const double *__restrict row = matrix + labels[t - 1] * n_labels;
            for (Int k = 0; k < n_labels; ++k) own[k] += row[k];
        }
}

SUFFICE_INLINE void add_to_before(const double *p, Int width, const std::int32_t *labels, const Int *offsets,
                                  Int n_sequences, double *matrix, Int n_labels) {
    for (Int s = 0; s < n_sequences; ++s)
        for (Int t = offsets[s] + 1; t < offsets[s + 1]; ++t) {
            const double *__restrict own = p + t * width;
            double *__restrict row = matrix + labels[t - 1] * n_labels;
            for (Int k = 0; k < n_labels; ++k) row[k] += own[k];
        }
}

}  // namespace chains

// The boundary --------------------------------------------------------------------------------------------------------

const double *or_null(const InFloats &values) { return values.shape(0) == 0 ? nullptr : values.data(); }

Int rows_of(const InTable &table) { return static_cast<Int>(table.shape(0)); }
Int width_of(const InTable &table) { return static_cast<Int>(table.shape(1)); }
Int rows_of(const OutTable &table) { return static_cast<Int>(table.shape(0)); }
Int width_of(const OutTable &table) { return static_cast<Int>(table.shape(1)); }

// Positions lo to hi have attributes, which have codes below a limit, and values unless all are one.
void require_attributes(const InInts &starts, const Codes &codes, const InFloats &values, Int lo, Int hi, Int n_codes) {
    require(0 <= lo && lo <= hi && hi < static_cast<Int>(starts.shape(0)), "positions lo to hi have no starts");
    require_rising(starts.data() + lo, hi - lo, static_cast<Int>(codes.shape(0)), "starts");
    if (values.shape(0) != 0) require_length(values, static_cast<Int>(codes.shape(0)), "values");
    const Int first = starts.data()[lo];
    require_indices(codes.data() + first, starts.data()[hi] - first, n_codes, "codes");
}

Int sequences_of(const InInts &offsets) { return static_cast<Int>(offsets.shape(0)) - 1; }

// Sequences follow each other within so many positions.
void require_sequences(const InInts &offsets, Int n) {
    require(offsets.shape(0) > 0, "offsets is empty");
    require_offsets(offsets, sequences_of(offsets), n, "offsets");
}

void require_labels(Int n_labels, Int width) {
    require(0 < n_labels && n_labels <= width, "n_labels must be at least one, and at most the number of columns");
}

void require_fours(Int width) { require(width % 4 == 0, "the number of columns must be a multiple of four"); }

void add_scores(const InInts &starts, const Codes &rows, const InFloats &values, const InTable &table, Int lo, Int hi,
                const OutTable &scores) {
    require_attributes(starts, rows, values, lo, hi, rows_of(table));
    require_fours(width_of(table));
    require_shape(scores, {hi - lo, width_of(table)}, "scores");
    levels::run<chains::add_scores>(starts.data(), rows.data(), or_null(values), table.data(), width_of(table), lo, hi,
                                    scores.data());
}

void add_rows(const InInts &starts, const Codes &rows, const InFloats &values, Int lo, Int hi, const InTable &p,
              const OutTable &table) {
    require_attributes(starts, rows, values, lo, hi, rows_of(table));
    require_fours(width_of(table));
    require_shape(p, {hi - lo, width_of(table)}, "p");
    levels::run<chains::add_rows>(starts.data(), rows.data(), or_null(values), p.data(), width_of(table), lo, hi,
                                  table.data());
}

// Positions lo to hi have single weights, each of a label.
template <typename Label>
void require_single_weights(const InInts &starts, const Codes &which, const In<Label, 1> &labels,
                            const InFloats &values, Int lo, Int hi, Int n_weights, Int width) {
    require_attributes(starts, which, values, lo, hi, n_weights);
    require_length(labels, static_cast<Int>(which.shape(0)), "labels");
    const Int first = starts.data()[lo];
    require_indices(labels.data() + first, starts.data()[hi] - first, width, "labels");
}

template <typename Label>
void add_few_scores(const InInts &starts, const Codes &which, const In<Label, 1> &labels, const InFloats &values,
                    const InFloats &weights, Int lo, Int hi, const OutTable &scores) {
    const Int width = width_of(scores), *start = starts.data();
    require_single_weights(starts, which, labels, values, lo, hi, static_cast<Int>(weights.shape(0)), width);
    require_shape(scores, {hi - lo, width}, "scores");
    const double *value = or_null(values), *weight = weights.data();
    const std::int32_t *code = which.data();
    const Label *label = labels.data();
    for (Int t = lo; t < hi; ++t) {
        double *own = scores.data() + (t - lo) * width;
        if (value == nullptr)
            for (Int at = start[t]; at < start[t + 1]; ++at) own[label[at]] += weight[code[at]];
        else
            for (Int at = start[t]; at < start[t + 1]; ++at) own[label[at]] += value[at] * weight[code[at]];
    }
}

template <typename Label>
void add_few(const InInts &starts, const Codes &which, const In<Label, 1> &labels, const InFloats &values, Int lo,
             Int hi, const InTable &p, const OutFloats &sums) {
    const Int width = width_of(p), *start = starts.data();
    require_single_weights(starts, which, labels, values, lo, hi, static_cast<Int>(sums.shape(0)), width);
    require_shape(p, {hi - lo, width}, "p");
    const double *value = or_null(values);
    double *sum = sums.data();
    const std::int32_t *code = which.data();
    const Label *label = labels.data();
    for (Int t = lo; t < hi; ++t) {
        const double *own = p.data() + (t - lo) * width;
        if (value == nullptr)
            for (Int at = start[t]; at < start[t + 1]; ++at) sum[code[at]] += own[label[at]];
        else
            for (Int at = start[t]; at < start[t + 1]; ++at) sum[code[at]] += value[at] * own[label[at]];
    }
}

void shift_scores(const OutTable &scores, Int n_labels, const OutFloats &tops) {
    require_labels(n_labels, width_of(scores));
    require_length(tops, rows_of(scores), "tops");
    levels::run<chains::shift_scores>(scores.data(), rows_of(scores), n_labels, width_of(scores), tops.data());
}

void exponentiate_all(const nb::ndarray<nb::numpy, double, nb::c_contig, nb::device::cpu> &x) {
    levels::run<exponentiate>(x.data(), static_cast<Int>(x.size()));
}

void forward(const OutTable &psi, const InTable &step, const InInts &offsets, Int n_labels, const OutTable &alpha,
             const OutFloats &totals) {
    const Int n = rows_of(psi), width = width_of(psi);
    require_labels(n_labels, width);
    require_fours(width);
    require_shape(step, {width, width}, "step");
    require_shape(alpha, {n, width}, "alpha");
    require_length(totals, n, "totals");
    require_sequences(offsets, n);
    levels::run<chains::forward>(psi.data(), step.data(), offsets.data(), sequences_of(offsets), n_labels, width,
                                 alpha.data(), totals.data());
}

void backward(const OutTable &psi, const InTable &turned, const InInts &offsets, const InTable &alpha,
              const InFloats &totals, const InFloats &weights, const OutTable &p) {
    const Int n = rows_of(psi), width = width_of(psi);
    require_fours(width);
    require_shape(turned, {width, width}, "turned");
    require_shape(alpha, {n, width}, "alpha");
    require_shape(p, {n, width}, "p");
    require_length(totals, n, "totals");
    require_sequences(offsets, n);
    const Int n_sequences = sequences_of(offsets);
    if (weights.shape(0) != 0) require_length(weights, n_sequences, "weights");
    std::vector<double> beta(width);
    levels::run<chains::backward>(psi.data(), turned.data(), offsets.data(), n_sequences, width, alpha.data(),
                                  totals.data(), or_null(weights), p.data(), beta.data());
}

Int longest_of(const InInts &offsets) {
    Int longest = 0;
    for (Int s = 0; s < sequences_of(offsets); ++s)
        longest = std::max(longest, offsets.data()[s + 1] - offsets.data()[s]);
    return longest;
}

// With D(y) = Σ_t d_t(y_{t−1}, y_t), what a labelling gains along a direction, the derivative of the probability of labels
// i and j at t − 1 and t is P_t(i, j) (E[D | i, j] − E[D]), where E[D | i, j] = past_{t−1}(i) + d_t(i, j) + future_t(j). What
// the most probable labels gain is taken away from all d_t, so that little is lost where these are all but certain.
void along(const InInts &offsets, const OutTable &p, const Out<double, 3> &pairs, const InTable &gains,
           const In<double, 3> &step_gains) {
    const Int n = rows_of(p), width = width_of(p), k = static_cast<Int>(pairs.shape(1));
    require_labels(k, width);
    require_sequences(offsets, n);
    require_shape(pairs, {n, k, k}, "pairs");
    require_shape(gains, {n, width}, "gains");
    const Int n_matrices = static_cast<Int>(step_gains.shape(0));
    require_shape(step_gains, {n_matrices == 1 ? 1 : n, k, k}, "step_gains");
    require_apart(offsets, p, "offsets and p");
    require_apart(offsets, pairs, "offsets and pairs");
    require_apart(pairs, p, "pairs and p");
    require_apart(gains, p, "gains and p");
    require_apart(gains, pairs, "gains and pairs");
    require_apart(step_gains, p, "step_gains and p");
    require_apart(step_gains, pairs, "step_gains and pairs");
    chains::Gains room(longest_of(offsets), k);
    levels::run<chains::along>(offsets.data(), sequences_of(offsets), k, width, p.data(), pairs.data(), gains.data(),
                               step_gains.data(), n_matrices == 1 ? 0 : k * k, room);
}

// The same from what `forward` and `backward` leave: all positions have the same steps, whose derivatives are added up.
void along_scaled(const InInts &offsets, const InTable &alpha, const InTable &step, const InTable &psi,
                  const OutTable &p, const InTable &gains, const InTable &step_gain, const OutTable &transitions) {
    const Int n = rows_of(p), width = width_of(p), k = rows_of(transitions);
    require_labels(k, width);
    require_sequences(offsets, n);
    require_shape(alpha, {n, width}, "alpha");
    require_shape(step, {width, width}, "step");
    require_shape(psi, {n, width}, "psi");
    require_shape(gains, {n, width}, "gains");
    require_shape(step_gain, {k, k}, "step_gain");
    require_shape(transitions, {k, k}, "transitions");
    require_apart(offsets, p, "offsets and p");
    require_apart(offsets, transitions, "offsets and transitions");
    std::vector<double> pair(k * k);
    chains::Gains room(longest_of(offsets), k);
    levels::run<chains::along_scaled>(offsets.data(), sequences_of(offsets), k, width, alpha.data(), step.data(),
                                      psi.data(), p.data(), gains.data(), step_gain.data(), transitions.data(),
                                      pair.data(), room);
}

// Add to each position's scores the row of a matrix that the label before has; first positions have none.
void add_before(const OutTable &scores, const Codes &labels, const InInts &offsets, const InTable &matrix) {
    const Int n = rows_of(scores), width = width_of(scores), n_labels = width_of(matrix);
    require(n_labels <= width, "matrix has more columns than scores");
    require_length(labels, n, "labels");
    require_sequences(offsets, n);
    require_indices(labels.data(), n, rows_of(matrix), "labels");
    levels::run<chains::add_before>(scores.data(), width, labels.data(), offsets.data(), sequences_of(offsets),
                                    matrix.data(), n_labels);
}

// Add each position's probabilities to the row of a matrix that the label before has.
void add_to_before(const InTable &p, const Codes &labels, const InInts &offsets, const OutTable &matrix) {
    const Int n = rows_of(p), width = width_of(p), n_labels = width_of(matrix);
    require(n_labels <= width, "matrix has more columns than p");
    require_length(labels, n, "labels");
    require_sequences(offsets, n);
    require_indices(labels.data(), n, rows_of(matrix), "labels");
    levels::run<chains::add_to_before>(p.data(), width, labels.data(), offsets.data(), sequences_of(offsets),
                                       matrix.data(), n_labels);
}

void normalise(const OutTable &psi, Int n_labels, const OutFloats &totals, const InFloats &weights) {
    const Int n = rows_of(psi), width = width_of(psi);
    require_labels(n_labels, width);
    require_fours(width);
    require_length(totals, n, "totals");
    if (weights.shape(0) != 0) require_length(weights, n, "weights");
    levels::run<chains::normalise>(psi.data(), n, n_labels, width, totals.data(), or_null(weights));
}

}  // namespace suffice

namespace {

using namespace suffice;

auto array(const char *name) { return nb::arg(name).noconvert(); }

template <typename Label>
void bind_single_weights(nb::module_ &m) {
    m.def("add_few_scores", &add_few_scores<Label>, array("starts"), array("which"), array("labels"), array("values"),
          array("weights"), nb::arg("lo"), nb::arg("hi"), array("scores"), WithoutLock(),
          "Add to the scores of positions ``lo`` to ``hi``, (hi − lo, width), single weights: ``which``, and their "
          "labels.");
    m.def("add_few", &add_few<Label>, array("starts"), array("which"), array("labels"), array("values"), nb::arg("lo"),
          nb::arg("hi"), array("p"), array("sums"), WithoutLock(),
          "Add the probabilities of positions ``lo`` to ``hi`` to the sums of single weights.");
}

void bind_attributes(nb::module_ &m) {
    m.def("add_scores", &add_scores, array("starts"), array("rows"), array("values"), array("table"), nb::arg("lo"),
          nb::arg("hi"), array("scores"), WithoutLock(),
          "Add to the scores of positions ``lo`` to ``hi``, (hi − lo, width), the rows of a table that their "
          "attributes have; ``values`` is empty where all are one.");
    m.def("add_rows", &add_rows, array("starts"), array("rows"), array("values"), nb::arg("lo"), nb::arg("hi"),
          array("p"), array("table"), WithoutLock(),
          "Add the probabilities of positions ``lo`` to ``hi`` to the rows of a table that their attributes have.");
    bind_single_weights<std::uint8_t>(m);
    bind_single_weights<std::uint16_t>(m);
    bind_single_weights<std::int32_t>(m);
    m.def("add_before", &add_before, array("scores"), array("labels"), array("offsets"), array("matrix"), WithoutLock(),
          "Add to the scores of positions the row of a matrix that the label before them has; first positions have "
          "none.");
    m.def("add_to_before", &add_to_before, array("p"), array("labels"), array("offsets"), array("matrix"),
          WithoutLock(), "Add the probabilities of positions to the row of a matrix that the label before them has.");
}

void bind_passes(nb::module_ &m) {
    m.def("shift_scores", &shift_scores, array("scores"), nb::arg("n_labels"), array("tops"), WithoutLock(),
          "Subtract from each position's scores, (n, width), the largest, which goes to ``tops``.");
    m.def("exponentiate", &exponentiate_all, array("x"), WithoutLock(),
          "Replace numbers of at most zero by their exponentials, to the last digit or the one before; e^−708 at "
          "least.");
    m.def("forward", &forward, array("psi"), array("step"), array("offsets"), nb::arg("n_labels"), array("alpha"),
          array("totals"), WithoutLock(),
          "Fill in p(label | input so far), (n, width), and the totals that were divided by, (n,).\n\n``psi`` and "
          "``step`` are exponentials, of the scores of positions and of transitions; those of padded "
          "labels become zero.");
    m.def("backward", &backward, array("psi"), array("turned"), array("offsets"), array("alpha"), array("totals"),
          array("weights"), array("p"), WithoutLock(),
          "Fill in the probabilities of labels, times the weights of sequences unless there are none.\n\n``turned`` is "
          "the transposed matrix of transitions. ``psi`` becomes the part of steps that leads to a position: the "
          "expected number\nof steps from i to j is the sum over positions of alpha[t − 1, i] · step[i, j] · "
          "psi[t, j]; ``psi`` of first positions becomes zero.");
    m.def("normalise", &normalise, array("psi"), nb::arg("n_labels"), array("totals"), array("weights"), WithoutLock(),
          "Turn exponentials of scores into probabilities, times weights unless there are none; totals were "
          "divided by.");
    m.def("along", &along, array("offsets"), array("p"), array("pairs"), array("gains"), array("step_gains"),
          WithoutLock(),
          "Replace the probabilities of labels, (n, width), and of steps, (n, K, K), by their derivatives along a "
          "direction.\n\n``gains``, (n, width), and ``step_gains``, (n, K, K) or (1, K, K) for all positions, are the "
          "direction of the scores. Probabilities\nmay be times the weights of sequences; so are then the derivatives.");
    m.def("along_scaled", &along_scaled, array("offsets"), array("alpha"), array("step"), array("psi"), array("p"),
          array("gains"), array("step_gain"), array("transitions"), WithoutLock(),
          "Replace the probabilities of labels by their derivatives along a direction, and add those of steps up.\n\n"
          "``alpha``, ``psi`` and ``p`` are those that `forward` and `backward` leave; ``gains``, (n, width), and "
          "``step_gain``, (K, K), are the direction of\nthe scores.");
    m.def("level", &levels::name, "Return the level of instructions that was chosen at import: 'avx2' or 'baseline'.");
}

}  // namespace

NB_MODULE(label_chains, m) {
    m.doc() = "Chains of labels in linear space: scores of positions, scaled forward and backward passes, and sums.";
    bind_attributes(m);
    bind_passes(m);
}
