// Hidden Markov chains: emissions, forward and backward passes scaled at every position, best paths (Viterbi).
//
// K states, n positions of one sequence or of a stretch of one.
//
//     scores[t, k] = log p(x_t | k)                        tops[t]   what was taken off them before exponentiation
//     p[t, k]      = exp(scores[t, k] − tops[t])           A[i, j]   p(z_t = j | z_t−1 = i)
//     α[t, k]      = p(z_t = k | x_1, …, x_t)              γ[t, k]   p(z_t = k | all x)
//     β[t, k]      = p(x_t+1, … | z_t = k) / p(x_t+1, … | x_1, …, x_t), so that γ = αβ
//
// A state that cannot have been reached, or hardly, has α below NEVER. Its β may be beyond what floats hold, and is
// taken as zero. Twin of all passes: the sums over all paths in tests/models/hidden_twin.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;
using InMatrix = In<double, 2>;
using OutMatrix = Out<double, 2>;

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NEVER = 1e-290;
constexpr double LEAST = 1e-200;  // sums below this are taken in log space
constexpr double HIGHEST = 600.0;

// Loops over few states are unrolled: kernels are compiled for each number of them from 2 to 6, and for any (`run<0>`).
template <typename Kernel, typename... Arguments>
auto run_for(Int k, Arguments... arguments) {
    switch (k) {
        case 2: return levels::run<Kernel::template run<2>>(arguments...);
        case 3: return levels::run<Kernel::template run<3>>(arguments...);
        case 4: return levels::run<Kernel::template run<4>>(arguments...);
        case 5: return levels::run<Kernel::template run<5>>(arguments...);
        case 6: return levels::run<Kernel::template run<6>>(arguments...);
        default: return levels::run<Kernel::template run<0>>(arguments...);
    }
}

// Emissions -----------------------------------------------------------------------------------------------------------

template <typename T>
struct LookUp {
    template <int fixed>
    static SUFFICE_INLINE void run(const T *codes, const double *__restrict logs, const double *__restrict rows,
                                   const double *__restrict highest, double *__restrict scores, double *__restrict p,
                                   double *__restrict tops, Int none, Int n, Int n_states) {
        const Int k = fixed ? fixed : n_states;
        for (Int t = 0; t < n; ++t) {
            const Int code = codes[t] < 0 ? none : static_cast<Int>(codes[t]);
            tops[t] = highest[code];
            for (Int i = 0; i < k; ++i) scores[t * k + i] = logs[code * k + i];
            for (Int i = 0; i < k; ++i) p[t * k + i] = rows[code * k + i];
        }
    }
};

template <typename T>
void look_up_emissions(const In<T, 1> &codes, const InMatrix &logs, const InMatrix &rows, const InFloats &highest,
                       const OutMatrix &scores, const OutMatrix &p, const OutFloats &tops) {
    const Int n = codes.shape(0), k = logs.shape(1), none = static_cast<Int>(logs.shape(0)) - 1;
    require(none >= 0, "logs has no row for missing codes");
    require_shape(rows, {none + 1, k}, "rows");
    require_length(highest, none + 1, "highest");
    require_shape(scores, {n, k}, "scores");
    require_shape(p, {n, k}, "p");
    require_length(tops, n, "tops");
    require_codes(codes.data(), n, none, "codes");
    run_for<LookUp<T>>(k, codes.data(), logs.data(), rows.data(), highest.data(), scores.data(), p.data(), tops.data(),
                       none, n, k);
}

// Add a row of `from` to one of `to`, for every code that is not missing: the row of the code, from or to that of t.
template <typename T, bool by_code>
struct AddRows {
    template <int fixed>
    static SUFFICE_INLINE void run(const T *codes, const double *__restrict from, double *__restrict to, Int n,
                                   Int n_states) {
        const Int k = fixed ? fixed : n_states;
        for (Int t = 0; t < n; ++t) {
            if (codes[t] < 0) continue;
            const double *row = from + (by_code ? static_cast<Int>(codes[t]) : t) * k;
            double *own = to + (by_code ? t : static_cast<Int>(codes[t])) * k;
            for (Int i = 0; i < k; ++i) own[i] += row[i];
        }
    }
};

template <typename T>
void add_table(const In<T, 1> &codes, const InMatrix &logs, const OutMatrix &scores) {
    const Int n = codes.shape(0), k = logs.shape(1);
    require_shape(scores, {n, k}, "scores");
    require_codes(codes.data(), n, logs.shape(0), "codes");
    run_for<AddRows<T, true>>(k, codes.data(), logs.data(), scores.data(), n, k);
}

template <typename T>
void count_codes(const In<T, 1> &codes, const InMatrix &gamma, const OutMatrix &counts) {
    const Int n = codes.shape(0), k = gamma.shape(1), n_codes = counts.shape(0);
    require_shape(gamma, {n, k}, "gamma");
    require_shape(counts, {n_codes, k}, "counts");
    require_codes(codes.data(), n, n_codes, "codes");
    run_for<AddRows<T, false>>(k, codes.data(), gamma.data(), counts.data(), n, k);
}

struct AddNormal {
    template <int fixed>
    static SUFFICE_INLINE void run(const double *values, const double *__restrict mean,
                                   const double *__restrict constant, const double *__restrict half,
                                   double *__restrict scores, Int n, Int n_states) {
        const Int k = fixed ? fixed : n_states;
        for (Int t = 0; t < n; ++t) {
            const double x = values[t];
            if (std::isnan(x)) continue;
            for (Int i = 0; i < k; ++i) {
                const double d = x - mean[i];
                scores[t * k + i] += constant[i] - half[i] * d * d;
            }
        }
    }
};

void add_normal(const InFloats &values, const InFloats &mean, const InFloats &constant, const InFloats &half,
                const OutMatrix &scores) {
    const Int n = values.shape(0), k = mean.shape(0);
    require_length(constant, k, "constant");
    require_length(half, k, "half");
    require_shape(scores, {n, k}, "scores");
    run_for<AddNormal>(k, values.data(), mean.data(), constant.data(), half.data(), scores.data(), n, k);
}

// `sums` has shape (3, K), so that the sums of all states run side by side.
struct SumSquares {
    template <int fixed>
    static SUFFICE_INLINE void run(const double *values, double centre, const double *__restrict gamma,
                                   double *__restrict sums, Int n, Int n_states) {
        const Int k = fixed ? fixed : n_states;
        for (Int t = 0; t < n; ++t) {
            const double x = values[t] - centre;
            if (std::isnan(x)) continue;
            for (Int i = 0; i < k; ++i) {
                const double g = gamma[t * k + i];
                sums[i] += g;
                sums[k + i] += g * x;
                sums[2 * k + i] += g * x * x;
            }
        }
    }
};

void sum_squares(const InFloats &values, double centre, const InMatrix &gamma, const OutMatrix &sums) {
    const Int n = values.shape(0), k = gamma.shape(1);
    require_shape(gamma, {n, k}, "gamma");
    require_shape(sums, {k, 3}, "sums");
    std::vector<double> turned(3 * k);
    for (Int i = 0; i < 3 * k; ++i) turned[i % 3 * k + i / 3] = sums.data()[i];
    run_for<SumSquares>(k, values.data(), centre, gamma.data(), turned.data(), n, k);
    for (Int i = 0; i < 3 * k; ++i) sums.data()[i] = turned[i % 3 * k + i / 3];
}

void exponentiate(const InMatrix &scores, const OutMatrix &p, const OutFloats &tops) {
    const Int n = scores.shape(0), k = scores.shape(1);
    require(n == 0 || k > 0, "scores has no columns");
    require_shape(p, {n, k}, "p");
    require_length(tops, n, "tops");
    for (Int t = 0; t < n; ++t) {
        const double *row = scores.data() + t * k;
        double top = row[0];
        for (Int i = 1; i < k; ++i) top = std::max(top, row[i]);
        if (top == -INF) top = 0.0;
        tops.data()[t] = top;
        for (Int i = 0; i < k; ++i) p.data()[t * k + i] = std::exp(row[i] - top);
    }
}

// Passes --------------------------------------------------------------------------------------------------------------

// Arrays of n positions of which a forward pass is made, and the transitions.
struct Stretch {
    const double *scores;
    double *p, *tops, *alpha, *scales;
    const double *transitions;
    Int n, k;

    Stretch part(Int low, Int high) const {
        return {scores + low * k, p + low * k, tops + low, alpha + low * k, scales + low, transitions, high - low, k};
    }
};

// What a forward pass left, and the transposed transitions, by which the sums of a backward pass run side by side.
struct Passed {
    const double *p, *alpha, *scales, *turned;
    Int n, k;
};

// Choose another top for one position, at which the usual one loses all that can be reached; return the sum.
inline double rescale_position(const double *before, const double *scores, double *p, double *top_of_position, Int k) {
    double top = -INF;
    for (Int i = 0; i < k; ++i)
        if (before[i] > 0.0) top = std::max(top, std::log(before[i]) + scores[i]);
    if (top == -INF) return 0.0;
    double total = 0.0;
    for (Int i = 0; i < k; ++i) {
        p[i] = before[i] > 0.0 ? std::exp(std::min(scores[i] - top, HIGHEST)) : 0.0;
        total += before[i] * p[i];
    }
    *top_of_position = top;
    return total;
}

// to = rowᵀ matrix, each sum from the first row of the matrix to the last; `width` columns of k.
template <int width>
SUFFICE_INLINE void multiply_block(const double *__restrict row, const double *__restrict matrix, double *__restrict to,
                                   Int k) {
    double sums[width] = {};
    for (Int i = 0; i < k; ++i)
        for (int j = 0; j < width; ++j) sums[j] += row[i] * matrix[i * k + j];
    for (int j = 0; j < width; ++j) to[j] = sums[j];
}

template <int fixed>
SUFFICE_INLINE void multiply(const double *__restrict row, const double *__restrict matrix, double *__restrict to,
                             Int k) {
    if constexpr (fixed > 0) {
        multiply_block<fixed>(row, matrix, to, fixed);
    } else {
        for (Int j = 0; j < k; ++j) to[j] = 0.0;
        for (Int i = 0; i < k; ++i) {
            const double factor = row[i];
            for (Int j = 0; j < k; ++j) to[j] += factor * matrix[i * k + j];
        }
    }
}

// Fill α and the scales; return log p. `before` becomes the distribution of the state after the stretch.
template <int fixed>
SUFFICE_INLINE double go_forward(const Stretch &of, double *__restrict before) {
    const Int k = fixed ? fixed : of.k;
    double total = 0.0, product = 1.0;
    for (Int t = 0; t < of.n; ++t) {
        double *__restrict alpha = of.alpha + t * k;
        double *p = of.p + t * k;
        double scale = 0.0;
        for (Int i = 0; i < k; ++i) {
            alpha[i] = before[i] * p[i];  // eq hmm-forward
            scale += alpha[i];
        }
        if (scale < LEAST) {
            scale = rescale_position(before, of.scores + t * k, p, of.tops + t, k);
            if (scale == 0.0) return -INF;
            for (Int i = 0; i < k; ++i) alpha[i] = before[i] * p[i];
        }
        of.scales[t] = scale;
        total += of.tops[t];
        product *= scale;
        if (product < 1e-100 || product > 1e100) {
            total += std::log(product);
            product = 1.0;
        }
        const double inverse = 1.0 / scale;
        for (Int i = 0; i < k; ++i) alpha[i] *= inverse;
        multiply<fixed>(alpha, of.transitions, before, k);
    }
    return total + std::log(product);
}

// Go from what the next position shows to β of the one whose α this is, and add to the expected pairs.
template <int fixed>
SUFFICE_INLINE void step_back_once(const double *__restrict turned, const double *__restrict alpha,
                                   const double *__restrict shown, double *__restrict beta, double weight,
                                   double *__restrict pairs, Int k) {
    for (Int i = 0; i < k; ++i) {
        const double a = weight * alpha[i];
        for (Int j = 0; j < k; ++j) pairs[i * k + j] += a * shown[j];  // eq hmm-expected
    }
    multiply<fixed>(shown, turned, beta, k);
}

// Fill weight · γ and add to the expected pairs; β becomes that of the first position.
template <int fixed>
SUFFICE_INLINE void go_backward(const Passed &of, double *__restrict beta, double weight, double *gamma, double *pairs,
                                double *__restrict shown) {
    const Int k = fixed ? fixed : of.k;
    for (Int t = of.n - 1; t >= 0; --t) {
        const double *alpha = of.alpha + t * k, *p = of.p + t * k;
        const double scale = of.scales[t];
        double *__restrict own = gamma + t * k;
        for (Int j = 0; j < k; ++j) {
            const double b = alpha[j] < NEVER ? 0.0 : beta[j];
            beta[j] = b;
            own[j] = weight * alpha[j] * b;
            shown[j] = p[j] * b / scale;
        }
        if (t > 0) step_back_once<fixed>(of.turned, alpha - k, shown, beta, weight, pairs, k);
    }
}

std::vector<double> transpose(const double *matrix, Int k) {
    std::vector<double> turned(k * k);
    for (Int i = 0; i < k; ++i)
        for (Int j = 0; j < k; ++j) turned[j * k + i] = matrix[i * k + j];
    return turned;
}

Stretch stretch_of(const InMatrix &scores, const OutMatrix &p, const OutFloats &tops, const InMatrix &transitions,
                   const OutMatrix &alpha, const OutFloats &scales) {
    const Int n = p.shape(0), k = p.shape(1);
    require_shape(scores, {n, k}, "scores");
    require_length(tops, n, "tops");
    require_shape(transitions, {k, k}, "transitions");
    require_shape(alpha, {n, k}, "alpha");
    require_length(scales, n, "scales");
    return {scores.data(), p.data(), tops.data(), alpha.data(), scales.data(), transitions.data(), n, k};
}

struct Forward {
    template <int fixed>
    static SUFFICE_INLINE double run(Stretch of, double *before) {
        return go_forward<fixed>(of, before);
    }
};

double forward(const InMatrix &scores, const OutMatrix &p, const OutFloats &tops, const InMatrix &transitions,
               const OutFloats &before, const OutMatrix &alpha, const OutFloats &scales) {
    const Stretch of = stretch_of(scores, p, tops, transitions, alpha, scales);
    require_length(before, of.k, "before");
    return run_for<Forward>(of.k, of, before.data());
}

struct Backward {
    template <int fixed>
    static SUFFICE_INLINE void run(Passed of, double *beta, double weight, double *gamma, double *pairs,
                                   double *shown) {
        go_backward<fixed>(of, beta, weight, gamma, pairs, shown);
    }
};

void backward(const InMatrix &p, const InMatrix &transitions, const InMatrix &alpha, const InFloats &scales,
              const OutFloats &beta, double weight, const OutMatrix &gamma, const OutMatrix &pairs,
              const OutFloats &shown) {
    const Int n = p.shape(0), k = p.shape(1);
    require_shape(transitions, {k, k}, "transitions");
    require_shape(alpha, {n, k}, "alpha");
    require_length(scales, n, "scales");
    require_length(beta, k, "beta");
    require_shape(gamma, {n, k}, "gamma");
    require_shape(pairs, {k, k}, "pairs");
    require_length(shown, k, "shown");
    const std::vector<double> turned = transpose(transitions.data(), k);
    const Passed of{p.data(), alpha.data(), scales.data(), turned.data(), n, k};
    run_for<Backward>(k, of, beta.data(), weight, gamma.data(), pairs.data(), shown.data());
}

void step_back(const InMatrix &transitions, const InFloats &alpha, const InFloats &shown, const OutFloats &beta,
               double weight, const OutMatrix &pairs) {
    const Int k = alpha.shape(0);
    require_shape(transitions, {k, k}, "transitions");
    require_length(shown, k, "shown");
    require_length(beta, k, "beta");
    require_shape(pairs, {k, k}, "pairs");
    for (Int i = 0; i < k; ++i) {
        const double a = weight * alpha.data()[i];
        double total = 0.0;
        for (Int j = 0; j < k; ++j) {
            pairs.data()[i * k + j] += a * shown.data()[j];
            total += transitions.data()[i * k + j] * shown.data()[j];
        }
        beta.data()[i] = total;
    }
}

Int count_sequences(const InInts &offsets, Int n) {
    require(offsets.shape(0) > 0, "offsets is empty");
    const Int n_sequences = Int(offsets.shape(0)) - 1;
    require_offsets(offsets, n_sequences, n, "offsets");
    return n_sequences;
}

// Whole sequences: room for K numbers, used anew for each of them, and what is filled or added to.
struct Sums {
    double *before, *beta, *shown, *gamma, *first, *pairs, *totals;
};

struct Smooth {
    template <int fixed>
    static SUFFICE_INLINE void run(Stretch all, const double *turned, const Int *offsets, const double *weights,
                                   const double *initial, Int n_sequences, Sums sums) {
        const Int k = fixed ? fixed : all.k;
        for (Int s = 0; s < n_sequences; ++s) {
            const Int low = offsets[s], high = offsets[s + 1];
            sums.totals[s] = 0.0;
            if (low == high) continue;
            const Stretch own = all.part(low, high);
            double *gamma = sums.gamma + low * k;
            std::copy_n(initial, k, sums.before);
            sums.totals[s] = go_forward<fixed>(own, sums.before);
            if (sums.totals[s] == -INF) {
                std::fill_n(gamma, own.n * k, 0.0);
                continue;
            }
            std::fill_n(sums.beta, k, 1.0);
            const Passed passed{own.p, own.alpha, own.scales, turned, own.n, k};
            go_backward<fixed>(passed, sums.beta, weights[s], gamma, sums.pairs, sums.shown);
            for (Int i = 0; i < k; ++i) sums.first[i] += gamma[i];
        }
    }
};

void smooth(const InMatrix &scores, const OutMatrix &p, const OutFloats &tops, const InInts &offsets,
            const InFloats &weights, const InFloats &initial, const InMatrix &transitions, const OutMatrix &alpha,
            const OutFloats &scales, const OutMatrix &gamma, const OutFloats &first, const OutMatrix &pairs,
            const OutFloats &totals) {
    const Stretch all = stretch_of(scores, p, tops, transitions, alpha, scales);
    const Int k = all.k, n_sequences = count_sequences(offsets, all.n);
    require_length(weights, n_sequences, "weights");
    require_length(initial, k, "initial");
    require_shape(gamma, {all.n, k}, "gamma");
    require_length(first, k, "first");
    require_shape(pairs, {k, k}, "pairs");
    require_length(totals, n_sequences, "totals");
    const std::vector<double> turned = transpose(all.transitions, k);
    std::vector<double> room(3 * k);
    const Sums sums{room.data(),  room.data() + k, room.data() + 2 * k, gamma.data(),
                    first.data(), pairs.data(),    totals.data()};
    run_for<Smooth>(k, all, turned.data(), offsets.data(), weights.data(), initial.data(), n_sequences, sums);
}

struct ForwardAll {
    template <int fixed>
    static SUFFICE_INLINE void run(Stretch all, const Int *offsets, const double *initial, Int n_sequences,
                                   double *before, double *totals) {
        for (Int s = 0; s < n_sequences; ++s) {
            std::copy_n(initial, all.k, before);
            totals[s] = go_forward<fixed>(all.part(offsets[s], offsets[s + 1]), before);
        }
    }
};

void fill_log_likelihoods(const InMatrix &scores, const OutMatrix &p, const OutFloats &tops, const InInts &offsets,
                          const InFloats &initial, const InMatrix &transitions, const OutMatrix &alpha,
                          const OutFloats &scales, const OutFloats &totals) {
    const Stretch all = stretch_of(scores, p, tops, transitions, alpha, scales);
    const Int n_sequences = count_sequences(offsets, all.n);
    require_length(initial, all.k, "initial");
    require_length(totals, n_sequences, "totals");
    std::vector<double> before(all.k);
    run_for<ForwardAll>(all.k, all, offsets.data(), initial.data(), n_sequences, before.data(), totals.data());
}

// Best paths ----------------------------------------------------------------------------------------------------------

// The best ways into `width` neighbouring states, of equal ones the first: log-probabilities and where they come from.
template <int width, typename T>
SUFFICE_INLINE void find_ways(const double *__restrict best, const double *__restrict log_transitions, Int k,
                              const double *__restrict shown, double *__restrict now, T *__restrict back) {
    double tops[width];
    Int came[width] = {};
    for (int j = 0; j < width; ++j) tops[j] = -INF;
    for (Int i = 0; i < k; ++i)
        for (int j = 0; j < width; ++j) {
            const double value = best[i] + log_transitions[i * k + j];
            const bool better = value > tops[j];
            tops[j] = better ? value : tops[j];
            came[j] = better ? i : came[j];
        }
    for (int j = 0; j < width; ++j) {
        now[j] = tops[j] + shown[j];
        back[j] = static_cast<T>(came[j]);
    }
}

// Carry the best log-probability of a path into every state through n positions; note where each came from.
template <int fixed, typename T>
SUFFICE_INLINE void extend(const double *scores, const double *log_transitions, double *__restrict best,
                           double *__restrict now, bool begins, T *back, Int n, Int n_states) {
    const Int k = fixed ? fixed : n_states;
    if (begins && n > 0)
        for (Int j = 0; j < k; ++j) best[j] += scores[j];
    for (Int t = begins; t < n; ++t) {
        const double *shown = scores + t * k;
        T *own = back + t * k;
        if constexpr (fixed > 0) {
            find_ways<fixed>(best, log_transitions, k, shown, now, own);
        } else {
            Int j = 0;
            for (; j + 4 <= k; j += 4) find_ways<4>(best, log_transitions + j, k, shown + j, now + j, own + j);
            for (; j + 2 <= k; j += 2) find_ways<2>(best, log_transitions + j, k, shown + j, now + j, own + j);
            for (; j < k; ++j) find_ways<1>(best, log_transitions + j, k, shown + j, now + j, own + j);
        }
        for (Int j = 0; j < k; ++j) best[j] = now[j];
    }
}

// Follow the notes from the best end to the beginning; return whether all of them were states.
template <typename T>
SUFFICE_INLINE bool follow_back(const double *best, const T *back, std::int32_t *path, Int n, Int k) {
    Int end = 0;
    for (Int i = 0; i < k; ++i)
        if (best[i] > best[end]) end = i;
    for (Int t = n - 1; t > 0; --t) {
        path[t] = static_cast<std::int32_t>(end);
        end = back[t * k + end];
        if (end >= k) return false;
    }
    if (n > 0) path[0] = static_cast<std::int32_t>(end);
    return true;
}

template <typename T>
void require_back(const Out<T, 2> &back, Int n, Int k) {
    require_shape(back, {n, k}, "back");
    require(k - 1 <= Int(std::numeric_limits<T>::max()), "back cannot hold so many states");
}

template <typename T>
struct Extend {
    template <int fixed>
    static SUFFICE_INLINE void run(const double *scores, const double *log_transitions, double *best, double *now,
                                   bool begins, T *back, Int n, Int k) {
        extend<fixed>(scores, log_transitions, best, now, begins, back, n, k);
    }
};

template <typename T>
void extend_paths(const InMatrix &scores, const InMatrix &log_transitions, const OutFloats &best, bool begins,
                  const Out<T, 2> &back) {
    const Int n = scores.shape(0), k = scores.shape(1);
    require_shape(log_transitions, {k, k}, "log_transitions");
    require_length(best, k, "best");
    require_back(back, n, k);
    std::vector<double> now(k);
    run_for<Extend<T>>(k, scores.data(), log_transitions.data(), best.data(), now.data(), begins, back.data(), n, k);
}

template <typename T>
void trace_back(const InFloats &best, const In<T, 2> &back, const Out<std::int32_t, 1> &path) {
    const Int n = path.shape(0), k = best.shape(0);
    require_shape(back, {n, k}, "back");
    require(n == 0 || k > 0, "there are no states");
    if (!follow_back(best.data(), back.data(), path.data(), n, k))
        throw std::out_of_range("back has values that are no states");
}

template <typename T>
struct FindPaths {
    template <int fixed>
    static SUFFICE_INLINE void run(const double *scores, const Int *offsets, const double *log_initial,
                                   const double *log_transitions, double *room, T *back, std::int32_t *path,
                                   Int n_sequences, Int n_states) {
        const Int k = fixed ? fixed : n_states;
        double *best = room, *now = room + k;
        for (Int s = 0; s < n_sequences; ++s) {
            const Int low = offsets[s], n = offsets[s + 1] - low;
            std::copy_n(log_initial, k, best);
            extend<fixed>(scores + low * k, log_transitions, best, now, true, back + low * k, n, k);
            follow_back(best, back + low * k, path + low, n, k);
        }
    }
};

template <typename T>
void find_best_paths(const InMatrix &scores, const InInts &offsets, const InFloats &log_initial,
                     const InMatrix &log_transitions, const Out<T, 2> &back, const Out<std::int32_t, 1> &path) {
    const Int n = scores.shape(0), k = scores.shape(1), n_sequences = count_sequences(offsets, n);
    require(n == 0 || k > 0, "there are no states");
    require_length(log_initial, k, "log_initial");
    require_shape(log_transitions, {k, k}, "log_transitions");
    require_back(back, n, k);
    require_length(path, n, "path");
    std::vector<double> room(2 * k);
    run_for<FindPaths<T>>(k, scores.data(), offsets.data(), log_initial.data(), log_transitions.data(), room.data(),
                          back.data(), path.data(), n_sequences, k);
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
void bind_codes(nb::module_ &m) {
    m.def("look_up_emissions", &look_up_emissions<T>, nb::arg("codes").noconvert(), nb::arg("logs").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("highest").noconvert(), nb::arg("scores").noconvert(),
          nb::arg("p").noconvert(), nb::arg("tops").noconvert(), WithoutLock(),
          R"(Fill scores, p and the tops of positions that show one discrete column only.

Parameters
----------
codes : array of signed integers, shape (n,)
    Negative where missing.
logs, rows : arrays, shape (n_codes + 1, K)
    Scores and p of every code, and of a missing one in the last row.
highest : array, shape (n_codes + 1,)
scores, p : arrays, shape (n, K)
tops : array, shape (n,))");
    m.def("add_table", &add_table<T>, nb::arg("codes").noconvert(), nb::arg("logs").noconvert(),
          nb::arg("scores").noconvert(), WithoutLock(),
          R"(Add the log-probabilities of a discrete column, nothing where it is missing.

Parameters
----------
codes : array of signed integers, shape (n,)
logs : array, shape (n_codes, K)
scores : array, shape (n, K))");
    m.def("count_codes", &count_codes<T>, nb::arg("codes").noconvert(), nb::arg("gamma").noconvert(),
          nb::arg("counts").noconvert(), WithoutLock(),
          R"(Add γ to the row of every code.

Parameters
----------
codes : array of signed integers, shape (n,)
gamma : array, shape (n, K)
counts : array, shape (n_codes, K))");
}

template <typename T>
void bind_paths(nb::module_ &m) {
    m.def("extend_paths", &extend_paths<T>, nb::arg("scores").noconvert(), nb::arg("log_transitions").noconvert(),
          nb::arg("best").noconvert(), nb::arg("begins"), nb::arg("back").noconvert(), WithoutLock(),
          R"(Carry the best log-probability of a path into every state through a stretch; note where each came from.

Parameters
----------
scores : array, shape (n, K)
log_transitions : array, shape (K, K)
best : array, shape (K,)
    That of the first position without what it shows if the stretch ``begins`` a sequence, else that of the position
    before; it is changed to that of the last position.
begins : bool
back : array of uint8 or uint32, shape (n, K)
    The state before each; where a sequence begins, the first row is left as it is.)");
    m.def("trace_back", &trace_back<T>, nb::arg("best").noconvert(), nb::arg("back").noconvert(),
          nb::arg("path").noconvert(), WithoutLock(),
          R"(Follow the notes of a whole sequence from its best end to its beginning; of equal ends the first.

Parameters
----------
best : array, shape (K,)
back : array of uint8 or uint32, shape (n, K)
path : int32 array, shape (n,))");
    m.def("find_best_paths", &find_best_paths<T>, nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("log_initial").noconvert(), nb::arg("log_transitions").noconvert(), nb::arg("back").noconvert(),
          nb::arg("path").noconvert(), WithoutLock(),
          R"(Fill the most probable states of whole sequences.

Parameters
----------
scores : array, shape (n, K)
offsets : int64 array, shape (n_sequences + 1,)
log_initial : array, shape (K,)
log_transitions : array, shape (K, K)
back : array of uint8 or uint32, shape (n, K)
    Room.
path : int32 array, shape (n,))");
}

void bind_emissions(nb::module_ &m) {
    bind_codes<std::int8_t>(m);
    bind_codes<std::int16_t>(m);
    bind_codes<std::int32_t>(m);
    bind_codes<std::int64_t>(m);
    m.def("add_normal", &add_normal, nb::arg("values").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("constant").noconvert(), nb::arg("half").noconvert(), nb::arg("scores").noconvert(), WithoutLock(),
          R"(Add log-densities, constant − half (x − mean)² in every state, nothing where x is NaN.

Parameters
----------
values : array, shape (n,)
mean, constant, half : arrays, shape (K,)
scores : array, shape (n, K))");
    m.def("exponentiate", &exponentiate, nb::arg("scores").noconvert(), nb::arg("p").noconvert(),
          nb::arg("tops").noconvert(), WithoutLock(),
          "Fill p, shape (n, K), and the tops, shape (n,), from scores, shape (n, K).");
    m.def("sum_squares", &sum_squares, nb::arg("values").noconvert(), nb::arg("centre"), nb::arg("gamma").noconvert(),
          nb::arg("sums").noconvert(), WithoutLock(),
          R"(Add γ, γ(x − c) and γ(x − c)² of the positions that have a value.

Parameters
----------
values : array, shape (n,)
    NaN where missing.
centre : float
gamma : array, shape (n, K)
sums : array, shape (K, 3))");
}

void bind_passes(nb::module_ &m) {
    m.def("forward", &forward, nb::arg("scores").noconvert(), nb::arg("p").noconvert(), nb::arg("tops").noconvert(),
          nb::arg("transitions").noconvert(), nb::arg("before").noconvert(), nb::arg("alpha").noconvert(),
          nb::arg("scales").noconvert(), WithoutLock(),
          R"(Fill α and the scales of a stretch; return log p of what it shows, −inf where it is impossible.

Parameters
----------
scores, p : arrays, shape (n, K)
tops : array, shape (n,)
    p and tops are changed where they lose all that can be reached.
transitions : array, shape (K, K)
before : array, shape (K,)
    The distribution of the first position's state, what it shows left out of account; it is changed to that of the
    position after the stretch.
alpha : array, shape (n, K)
scales : array, shape (n,))");
    m.def("backward", &backward, nb::arg("p").noconvert(), nb::arg("transitions").noconvert(),
          nb::arg("alpha").noconvert(), nb::arg("scales").noconvert(), nb::arg("beta").noconvert(), nb::arg("weight"),
          nb::arg("gamma").noconvert(), nb::arg("pairs").noconvert(), nb::arg("shown").noconvert(), WithoutLock(),
          R"(Fill weight · γ of a stretch, and add to the expected ``pairs`` of all its positions but the first.

A position t adds weight · α_t−1 ⊗ p_t β_t / scale_t.

Parameters
----------
p, alpha, gamma : arrays, shape (n, K)
transitions, pairs : arrays, shape (K, K)
scales : array, shape (n,)
beta : array, shape (K,)
    That of the last position; it is changed to that of the first.
weight : float
shown : array, shape (K,)
    Filled with the first position's p_t β_t / scale_t, with which the stretch before goes on: `step_back`.)");
    m.def("step_back", &step_back, nb::arg("transitions").noconvert(), nb::arg("alpha").noconvert(),
          nb::arg("shown").noconvert(), nb::arg("beta").noconvert(), nb::arg("weight"), nb::arg("pairs").noconvert(),
          WithoutLock(),
          R"(Take one step back, from what the next position shows to β of the one whose α this is; add to ``pairs``.

Parameters
----------
transitions, pairs : arrays, shape (K, K)
alpha, shown, beta : arrays, shape (K,)
weight : float)");
    m.def("smooth", &smooth, nb::arg("scores").noconvert(), nb::arg("p").noconvert(), nb::arg("tops").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("weights").noconvert(), nb::arg("initial").noconvert(),
          nb::arg("transitions").noconvert(), nb::arg("alpha").noconvert(), nb::arg("scales").noconvert(),
          nb::arg("gamma").noconvert(), nb::arg("first").noconvert(), nb::arg("pairs").noconvert(),
          nb::arg("totals").noconvert(), WithoutLock(),
          R"(Run whole sequences: fill log p of each and weight · γ; add to the first states and to the pairs.

Impossible sequences have log p = −inf and γ = 0.

Parameters
----------
scores, p, alpha, gamma : arrays, shape (n, K)
tops, scales : arrays, shape (n,)
offsets : int64 array, shape (n_sequences + 1,)
weights, totals : arrays, shape (n_sequences,)
initial, first : arrays, shape (K,)
transitions, pairs : arrays, shape (K, K))");
    m.def("fill_log_likelihoods", &fill_log_likelihoods, nb::arg("scores").noconvert(), nb::arg("p").noconvert(),
          nb::arg("tops").noconvert(), nb::arg("offsets").noconvert(), nb::arg("initial").noconvert(),
          nb::arg("transitions").noconvert(), nb::arg("alpha").noconvert(), nb::arg("scales").noconvert(),
          nb::arg("totals").noconvert(), WithoutLock(),
          R"(Fill log p of whole sequences, −inf where it is zero.

Parameters
----------
scores, p, alpha : arrays, shape (n, K)
tops, scales : arrays, shape (n,)
offsets : int64 array, shape (n_sequences + 1,)
initial : array, shape (K,)
transitions : array, shape (K, K)
totals : array, shape (n_sequences,))");
}

}  // namespace

NB_MODULE(hidden_chains, m) {
    m.doc() = "Hidden Markov chains: emissions, forward and backward passes, best paths.";
    bind_emissions(m);
    bind_passes(m);
    bind_paths<std::uint8_t>(m);
    bind_paths<std::uint32_t>(m);
}
