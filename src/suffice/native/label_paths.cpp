// Labels along sequences: the best path, the best few, probabilities and draws, with any potentials.
//
// K          labels
// s_t, g_t   log-potentials of the labels of position t, (K,), and of the step that leads to it, (K, K)
// a_t        log Σ over all paths up to t that end in a label, less their greatest, so that it is zero
// c_j        the greatest of column j of g_t
// E_ij       exp(g_ij − c_j)
// S_j        Σ_i exp(a_i) E_ij
//
// Potentials may be −inf, never +inf or NaN. Sums are made in linear space, where they are sums of products of numbers
// up to one; a sum so small that terms may have been lost is made again from logarithms. There is a matrix of steps for
// every position, or one for all. Kernels take the sequences from low to high, and return the first that has no path of
// positive probability, or −1. Their twin is tests/native/label_paths_twin.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "exponentials.hpp"
#include "levels.hpp"

namespace suffice {

using Int = std::int64_t;

namespace paths {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double TINY = 1e-280;     // a sum beyond this has lost less than K · 1e-27 of itself to underflow
constexpr double LEAST = 3.4e-308;  // just above e^−708, below which exponentials are not told apart

// Sequences, and the log-potentials of steps.
struct Chains {
    const Int *offsets;
    Int low, high, n_labels, n_steps;
    const double *steps;

    SUFFICE_INLINE const double *step(Int t) const { return n_steps > 1 ? steps + t * n_labels * n_labels : steps; }

    Int longest() const {
        Int found = 0;
        for (Int s = low; s < high; ++s) found = std::max(found, offsets[s + 1] - offsets[s]);
        return found;
    }
};

// Memory that is not cleared.
using Room = std::unique_ptr<double[]>;
Room make_room(Int n) { return Room(new double[static_cast<std::size_t>(n)]); }

// The best path -------------------------------------------------------------------------------------------------------

// Fill after_j = max_i (before_i + g_ij) + s_j. Four rows at a time, so that what is filled is read and
// written less often.
SUFFICE_INLINE void extend(const double *__restrict before, const double *__restrict step,
                           const double *__restrict score, Int n_labels, double *__restrict after) {
    std::fill(after, after + n_labels, -INF);
    Int i = 0;
    for (; i + 4 <= n_labels; i += 4) {
        const double a = before[i], b = before[i + 1], c = before[i + 2], d = before[i + 3];
        const double *__restrict row = step + i * n_labels;
        for (Int j = 0; j < n_labels; ++j) {
            const double w = a + row[j], x = b + row[n_labels + j];
            const double y = c + row[2 * n_labels + j], z = d + row[3 * n_labels + j];
            const double first = w > x ? w : x, second = y > z ? y : z;
            const double best = first > second ? first : second;
            after[j] = best > after[j] ? best : after[j];  // eq viterbi
        }
    }
    for (; i < n_labels; ++i) {
        const double value = before[i];
        const double *__restrict row = step + i * n_labels;
        for (Int j = 0; j < n_labels; ++j) {
            const double candidate = value + row[j];
            after[j] = candidate > after[j] ? candidate : after[j];
        }
    }
    for (Int j = 0; j < n_labels; ++j) after[j] += score[j];
}

// The first i for which before_i + g_ij is greatest, j being the label.
SUFFICE_INLINE Int label_before(const double *before, const double *step, Int n_labels, Int label) {
    double best = before[0] + step[label];
    Int found = 0;
    for (Int i = 1; i < n_labels; ++i) {
        const double candidate = before[i] + step[i * n_labels + label];
        if (candidate > best) {
            best = candidate;
            found = i;
        }
    }
    return found;
}

// The greatest score of paths that end in a label is kept for each position, and on the way back the label before is
// found anew: pointers would be written for all K labels, and read for one.
SUFFICE_INLINE Int best_paths(const Chains &chains, const double *scores, double *reach, std::int32_t *labels,
                              double *totals) {
    const Int k = chains.n_labels;
    for (Int s = chains.low; s < chains.high; ++s) {
        const Int begin = chains.offsets[s], n = chains.offsets[s + 1] - begin;
        totals[s] = 0.0;
        if (n == 0) continue;
        std::copy(scores + begin * k, scores + (begin + 1) * k, reach);
        for (Int t = 1; t < n; ++t)
            extend(reach + (t - 1) * k, chains.step(begin + t), scores + (begin + t) * k, k, reach + t * k);
        const double *last = reach + (n - 1) * k;
        Int label = std::max_element(last, last + k) - last;
        totals[s] = last[label];
        if (totals[s] == -INF) return s;
        labels[begin + n - 1] = static_cast<std::int32_t>(label);
        for (Int t = n - 1; t > 0; --t) {
            label = label_before(reach + (t - 1) * k, chains.step(begin + t), k, label);
            labels[begin + t - 1] = static_cast<std::int32_t>(label);
        }
    }
    return -1;
}

// The best few --------------------------------------------------------------------------------------------------------

// The best paths to each label, best first: their scores, (K, n), and how many there are.
struct Ranked {
    std::vector<double> values;
    std::vector<Int> counts;
};

// Fill the n greatest of value_ir + g_i, plus score, smaller i and r first among equals; return how many. `back` tells
// where they came from: i · n + r.
//
// The r-th values of each i fall with r, so that none is looked at behind the first that comes too late.
Int merge(const Ranked &before, const double *step, Int stride, double score, Int n, double *out, std::int32_t *back) {
    Int size = 0;
    if (score == -INF) return size;
    for (Int i = 0; i < static_cast<Int>(before.counts.size()); ++i)
        for (Int r = 0; r < before.counts[i]; ++r) {
            const double candidate = before.values[i * n + r] + step[i * stride];
            if (candidate == -INF || (size == n && candidate <= out[n - 1])) break;
            Int place = size < n ? size : n - 1;
            for (; place > 0 && out[place - 1] < candidate; --place) {
                out[place] = out[place - 1];
                back[place] = back[place - 1];
            }
            out[place] = candidate;
            back[place] = static_cast<std::int32_t>(i * n + r);
            size = std::min(size + 1, n);
        }
    for (Int r = 0; r < size; ++r) out[r] += score;
    return size;
}

Int n_best(const Chains &chains, const double *scores, Int n, std::int32_t *paths, Int row, double *totals,
           Int *found) {
    const Int k = chains.n_labels;
    Ranked now{std::vector<double>(k * n), std::vector<Int>(k)}, next = now;
    std::unique_ptr<std::int32_t[]> back(new std::int32_t[static_cast<std::size_t>(chains.longest() * k * n)]);
    const double no_step = 0.0;
    for (Int s = chains.low; s < chains.high; ++s) {
        const Int begin = chains.offsets[s], end = chains.offsets[s + 1], own = s - chains.low;
        found[own] = 1;
        totals[own * n] = 0.0;
        if (begin == end) continue;
        for (Int j = 0; j < k; ++j) {
            now.values[j * n] = scores[begin * k + j];
            now.counts[j] = scores[begin * k + j] > -INF ? 1 : 0;
        }
        for (Int t = begin + 1; t < end; ++t) {
            for (Int j = 0; j < k; ++j)
                next.counts[j] = merge(now, chains.step(t) + j, k, scores[t * k + j], n, next.values.data() + j * n,
                                       back.get() + ((t - begin) * k + j) * n);
            std::swap(now, next);
        }
        // One more step, to an end that all labels lead to.
        found[own] = merge(now, &no_step, 0, 0.0, n, totals + own * n, back.get());
        if (found[own] == 0) return s;
        for (Int r = 0; r < found[own]; ++r) {
            std::int32_t *path = paths + r * row - chains.offsets[chains.low];
            Int place = back[r];
            for (Int t = end - 1; t > begin; --t) {
                path[t] = static_cast<std::int32_t>(place / n);
                place = back[(t - begin) * k * n + place];
            }
            path[begin] = static_cast<std::int32_t>(place / n);
        }
    }
    return -1;
}

// Sums over all paths -------------------------------------------------------------------------------------------------

// Replace logarithms of at most zero by their exponentials; −inf, and what is next to nothing, become zero.
SUFFICE_INLINE void exponentiate_or_zero(double *logs, Int n) {
    exponentiate(logs, n);
    for (Int i = 0; i < n; ++i) logs[i] = logs[i] > LEAST ? logs[i] : 0.0;
}

SUFFICE_INLINE double sum_of(const double *values, Int n) {
    double total = 0.0;
    for (Int i = 0; i < n; ++i) total += values[i];
    return total;
}

// log Σ_i exp(a_i + g_ij).
SUFFICE_INLINE double log_sum(const double *before, const double *step, Int n_labels, Int j) {
    double top = -INF;
    for (Int i = 0; i < n_labels; ++i) top = std::max(top, before[i] + step[i * n_labels + j]);
    if (top == -INF) return top;
    double total = 0.0;
    for (Int i = 0; i < n_labels; ++i) total += std::exp(before[i] + step[i * n_labels + j] - top);
    return top + std::log(total);
}

// What is worked out for one position, in memory for (2 K + 5) K numbers.
struct Sums {
    double *top, *mass, *total, *chance, *ratio, *weight, *turned;  // c, exp(a), S, p, p / S, E, and E transposed

    static Room make_room(Int k) { return paths::make_room((2 * k + 5) * k); }
    Sums(const Room &room, Int k)
        : top(room.get()),
          mass(top + k),
          total(mass + k),
          chance(total + k),
          ratio(chance + k),
          weight(ratio + k),
          turned(weight + k * k) {}
};

// Fill c and E.
SUFFICE_INLINE void weigh(const double *__restrict step, Int k, double *__restrict top, double *__restrict weight) {
    std::copy(step, step + k, top);
    for (Int i = 1; i < k; ++i)
        for (Int j = 0; j < k; ++j) top[j] = top[j] < step[i * k + j] ? step[i * k + j] : top[j];
    for (Int i = 0; i < k; ++i)
        for (Int j = 0; j < k; ++j) {
            const double less = step[i * k + j] - top[j];
            weight[i * k + j] = top[j] > -INF ? less : -INF;
        }
    exponentiate_or_zero(weight, k * k);
}

SUFFICE_INLINE void transpose(const double *__restrict matrix, Int k, double *__restrict turned) {
    for (Int i = 0; i < k; ++i)
        for (Int j = 0; j < k; ++j) turned[j * k + i] = matrix[i * k + j];
}

// out += Σ_i factor_i row_i, from the first to the last; four rows at a time.
SUFFICE_INLINE void add_rows(const double *__restrict factors, const double *__restrict rows, Int n, Int k,
                             double *__restrict out) {
    Int i = 0;
    for (; i + 4 <= n; i += 4) {
        const double a = factors[i], b = factors[i + 1], c = factors[i + 2], d = factors[i + 3];
        const double *__restrict row = rows + i * k;
        for (Int j = 0; j < k; ++j)
            out[j] = (((out[j] + a * row[j]) + b * row[k + j]) + c * row[2 * k + j]) + d * row[3 * k + j];
    }
    for (; i < n; ++i)
        for (Int j = 0; j < k; ++j) out[j] += factors[i] * rows[i * k + j];
}

// Fill exp(a) and S.
SUFFICE_INLINE void sum_over(const double *before, Int k, const Sums &sums) {
    std::copy(before, before + k, sums.mass);
    exponentiate_or_zero(sums.mass, k);
    std::fill(sums.total, sums.total + k, 0.0);
    add_rows(sums.mass, sums.weight, k, k, sums.total);
}

// Fill the next a; return what was taken off.
SUFFICE_INLINE double advance(const double *before, const double *score, const double *step, Int k, const Sums &sums,
                              double *after) {
    double greatest = -INF;
    for (Int j = 0; j < k; ++j) {
        const double total = sums.total[j];
        const double log_total = total > TINY ? sums.top[j] + std::log(total) : log_sum(before, step, k, j);
        after[j] = log_total + score[j];  // eq forward
        greatest = std::max(greatest, after[j]);
    }
    if (greatest > -INF)
        for (Int j = 0; j < k; ++j) after[j] -= greatest;
    return greatest;
}

// Fill a_t of a first position; return what was taken off.
SUFFICE_INLINE double start(const double *score, Int k, double *after) {
    const double greatest = *std::max_element(score, score + k);
    for (Int j = 0; j < k; ++j) after[j] = greatest > -INF ? score[j] - greatest : score[j];
    return greatest;
}

SUFFICE_INLINE Int forward(const Chains &chains, const double *scores, const Sums &sums, double *reach, double *log_z) {
    const Int k = chains.n_labels;
    weigh(chains.steps, k, sums.top, sums.weight);
    for (Int s = chains.low; s < chains.high; ++s) {
        const Int begin = chains.offsets[s], end = chains.offsets[s + 1];
        log_z[s] = 0.0;
        for (Int t = begin; t < end; ++t) {
            double *now = reach + t * k, greatest = 0.0;
            if (t == begin) {
                greatest = start(scores + t * k, k, now);
            } else {
                if (chains.n_steps > 1) weigh(chains.step(t), k, sums.top, sums.weight);
                sum_over(now - k, k, sums);
                greatest = advance(now - k, scores + t * k, chains.step(t), k, sums, now);
            }
            if (greatest == -INF) return s;
            log_z[s] += greatest;
        }
        if (begin < end) {
            std::copy(reach + (end - 1) * k, reach + end * k, sums.mass);
            exponentiate_or_zero(sums.mass, k);
            log_z[s] += std::log(sum_of(sums.mass, k));
        }
    }
    return -1;
}

// Fill the probabilities of the labels at t − 1, `chance`, from those at t.
SUFFICE_INLINE void retreat(const double *before, const double *after, const double *step, Int k, const Sums &sums) {
    double *__restrict chance = sums.chance;
    std::fill(chance, chance + k, 0.0);
    for (Int j = 0; j < k; ++j)
        if (sums.total[j] > TINY) {
            const double ratio = after[j] / sums.total[j];
            const double *__restrict row = sums.turned + j * k;
            for (Int i = 0; i < k; ++i) chance[i] += ratio * row[i];
        }
    for (Int i = 0; i < k; ++i) chance[i] *= sums.mass[i];
    for (Int j = 0; j < k; ++j)
        if (sums.total[j] <= TINY && after[j] > 0) {
            const double all = log_sum(before, step, k, j);
            for (Int i = 0; i < k; ++i) chance[i] += after[j] * std::exp(before[i] + step[i * k + j] - all);
        }
}

// Fill the probabilities of the labels at t − 1 and t together, (K, K).
SUFFICE_INLINE void fill_pairs(const double *before, const double *after, const double *step, Int k, const Sums &sums,
                               double *__restrict pairs) {
    for (Int j = 0; j < k; ++j) sums.ratio[j] = after[j] / sums.total[j];  // not looked at where S is tiny
    const double *__restrict total = sums.total;
    const double *__restrict ratio = sums.ratio;
    for (Int i = 0; i < k; ++i) {
        const double mass = sums.mass[i];
        const double *__restrict weight = sums.weight + i * k;
        for (Int j = 0; j < k; ++j) {
            const double both = mass * weight[j] * ratio[j];
            pairs[i * k + j] = total[j] > TINY ? both : 0.0;
        }
    }
    for (Int j = 0; j < k; ++j)
        if (total[j] <= TINY && after[j] > 0) {
            const double all = log_sum(before, step, k, j);
            for (Int i = 0; i < k; ++i) pairs[i * k + j] = after[j] * std::exp(before[i] + step[i * k + j] - all);
        }
}

// p(i at t − 1 | j at t) = exp(a_i) E_ij / S_j, whatever comes after; p(i at t − 1) is its sum weighted by p(j at t).
SUFFICE_INLINE void backward(const Chains &chains, const Sums &sums, double *reach, double *pairs) {
    const Int k = chains.n_labels;
    weigh(chains.steps, k, sums.top, sums.weight);
    transpose(sums.weight, k, sums.turned);
    for (Int s = chains.low; s < chains.high; ++s) {
        const Int begin = chains.offsets[s], end = chains.offsets[s + 1];
        if (begin == end) continue;
        double *last = reach + (end - 1) * k;
        exponentiate_or_zero(last, k);
        const double total = sum_of(last, k);
        for (Int j = 0; j < k; ++j) last[j] /= total;
        for (Int t = end - 1; t > begin; --t) {
            double *after = reach + t * k, *before = after - k;
            const double *step = chains.step(t);
            if (chains.n_steps > 1) {
                weigh(step, k, sums.top, sums.weight);
                transpose(sums.weight, k, sums.turned);
            }
            sum_over(before, k, sums);
            retreat(before, after, step, k, sums);
            if (pairs != nullptr) fill_pairs(before, after, step, k, sums, pairs + t * k * k);
            std::copy(sums.chance, sums.chance + k, before);
        }
        if (pairs != nullptr) std::fill(pairs + begin * k * k, pairs + (begin + 1) * k * k, 0.0);
    }
}

// Draws ---------------------------------------------------------------------------------------------------------------

// The last label first, then each given the one after it: p(i at t | j at t + 1) ∝ exp(a_i + g_ij).
void draw_paths(const Chains &chains, const double *reach, const double *uniform, std::int32_t *labels) {
    const Int k = chains.n_labels;
    std::vector<double> weights(k);
    for (Int s = chains.low; s < chains.high; ++s)
        for (Int t = chains.offsets[s + 1] - 1; t >= chains.offsets[s]; --t) {
            std::copy(reach + t * k, reach + (t + 1) * k, weights.begin());
            if (t < chains.offsets[s + 1] - 1) {
                const double *step = chains.step(t + 1) + labels[t + 1];
                for (Int i = 0; i < k; ++i) weights[i] += step[i * k];
            }
            const double top = *std::max_element(weights.begin(), weights.end());
            double total = 0.0, passed = 0.0;
            for (Int i = 0; i < k; ++i) {
                weights[i] = std::exp(weights[i] - top);
                total += weights[i];
            }
            const double level = uniform[t] * total;
            Int label = 0;
            for (Int i = 0; i < k; ++i) {
                if (weights[i] > 0) label = i;  // rounding carries no draw past what is possible
                passed += weights[i];
                if (passed > level) break;
            }
            labels[t] = static_cast<std::int32_t>(label);
        }
}

}  // namespace paths

// The boundary --------------------------------------------------------------------------------------------------------

using InTable = In<double, 2>;
using OutTable = Out<double, 2>;
using InSteps = In<double, 3>;
using OutPairs = Out<double, 3>;
using OutCodes = Out<std::int32_t, 1>;
using OutPaths = Out<std::int32_t, 2>;

Int n_sequences(const InInts &offsets) { return static_cast<Int>(offsets.shape(0)) - 1; }

// Return sequences low to high of n positions, and steps, after a look at them.
template <typename Table>
paths::Chains chains_of(const InInts &offsets, Int low, Int high, const Table &table, const InSteps &steps) {
    const Int n = static_cast<Int>(table.shape(0)), k = static_cast<Int>(table.shape(1));
    require(k > 0, "there must be a label at least");
    require(0 <= low && low <= high && high <= n_sequences(offsets), "sequences low to high have no offsets");
    require_rising(offsets.data() + low, high - low, n, "offsets");
    const Int n_steps = static_cast<Int>(steps.shape(0));
    require_shape(steps, {n_steps == 1 ? 1 : n, k, k}, "steps");
    require(n_steps > 0, "there must be a matrix of steps at least");
    return {offsets.data(), low, high, k, n_steps, steps.data()};
}

Int best_paths(const InInts &offsets, Int low, Int high, const InTable &scores, const InSteps &steps,
               const OutCodes &labels, const OutFloats &totals) {
    const paths::Chains chains = chains_of(offsets, low, high, scores, steps);
    require_length(labels, static_cast<Int>(scores.shape(0)), "labels");
    require_length(totals, n_sequences(offsets), "totals");
    const paths::Room reach = paths::make_room(chains.longest() * chains.n_labels);
    return levels::run<paths::best_paths>(chains, scores.data(), reach.get(), labels.data(), totals.data());
}

Int n_best(const InInts &offsets, Int low, Int high, const InTable &scores, const InSteps &steps, Int n,
           const OutPaths &paths, const OutTable &totals, const OutInts &found) {
    const paths::Chains chains = chains_of(offsets, low, high, scores, steps);
    require(0 < n && n <= std::numeric_limits<std::int32_t>::max() / chains.n_labels, "n is too small or too large");
    const Int n_positions = offsets.data()[high] - offsets.data()[low];
    require_shape(paths, {n, n_positions}, "paths");
    require_shape(totals, {high - low, n}, "totals");
    require_length(found, high - low, "found");
    require_apart(offsets, found, "offsets and found");
    return paths::n_best(chains, scores.data(), n, paths.data(), n_positions, totals.data(), found.data());
}

Int forward(const InInts &offsets, Int low, Int high, const InTable &scores, const InSteps &steps,
            const OutTable &reach, const OutFloats &log_z) {
    const paths::Chains chains = chains_of(offsets, low, high, scores, steps);
    require_shape(reach, {static_cast<Int>(scores.shape(0)), chains.n_labels}, "reach");
    require_length(log_z, n_sequences(offsets), "log_z");
    const paths::Room room = paths::Sums::make_room(chains.n_labels);
    const paths::Sums sums(room, chains.n_labels);
    return levels::run<paths::forward>(chains, scores.data(), sums, reach.data(), log_z.data());
}

Int backward(const InInts &offsets, Int low, Int high, const InSteps &steps, const OutTable &reach,
             const OutPairs &pairs) {
    const paths::Chains chains = chains_of(offsets, low, high, reach, steps);
    const bool wanted = pairs.shape(0) > 0;
    require_shape(pairs, {wanted ? static_cast<Int>(reach.shape(0)) : 0, chains.n_labels, chains.n_labels}, "pairs");
    const paths::Room room = paths::Sums::make_room(chains.n_labels);
    const paths::Sums sums(room, chains.n_labels);
    levels::run<paths::backward>(chains, sums, reach.data(), wanted ? pairs.data() : nullptr);
    return -1;
}

Int draw_paths(const InInts &offsets, Int low, Int high, const InSteps &steps, const InTable &reach,
               const InFloats &uniform, const OutCodes &labels) {
    const paths::Chains chains = chains_of(offsets, low, high, reach, steps);
    require_length(uniform, static_cast<Int>(reach.shape(0)), "uniform");
    require_length(labels, static_cast<Int>(reach.shape(0)), "labels");
    paths::draw_paths(chains, reach.data(), uniform.data(), labels.data());
    return -1;
}

}  // namespace suffice

namespace {

using namespace suffice;

auto array(const char *name) { return nb::arg(name).noconvert(); }

constexpr const char *N_BEST = R"(Fill the ``n`` paths of greatest score of each sequence, best first.

Parameters
----------
paths : int32 array, shape (n, n_positions)
    Positions from the first of sequence ``low`` on.
totals : array, shape (high − low, n)
found : int64 array, shape (high − low,)
    How many paths of positive probability there are, up to ``n``.)";

constexpr const char *BACKWARD = R"(Turn what `forward` filled into the probabilities of labels, in place.

Parameters
----------
reach : array, shape (n, K)
pairs : array, shape (n, K, K) or (0, K, K)
    Room for the probabilities of neighbouring labels, zero at first positions, if they are wanted.)";

}  // namespace

NB_MODULE(label_paths, m) {
    m.doc() =
        "Labels along sequences: the best path, the best few, probabilities and draws, with any potentials.\n\n"
        "Sequences ``low`` to ``high`` are filled. ``offsets`` (S + 1,) says where they begin, ``scores`` (n, K) and "
        "``steps``\n(n, K, K) or (1, K, K) are log-potentials. Each function returns the first sequence that has no "
        "path of positive\nprobability, or −1.";
    m.def("best_paths", &best_paths, array("offsets"), nb::arg("low"), nb::arg("high"), array("scores"), array("steps"),
          array("labels"), array("totals"), WithoutLock(),
          "Fill the path of greatest score of each sequence, ``labels`` (n,), and its score, ``totals`` (S,).");
    m.def("n_best", &n_best, array("offsets"), nb::arg("low"), nb::arg("high"), array("scores"), array("steps"),
          nb::arg("n"), array("paths"), array("totals"), array("found"), WithoutLock(), N_BEST);
    m.def("forward", &forward, array("offsets"), nb::arg("low"), nb::arg("high"), array("scores"), array("steps"),
          array("reach"), array("log_z"), WithoutLock(),
          "Fill log Σ over the paths up to each position that end in a label, less the greatest of them, ``reach`` "
          "(n, K), and the logarithm of the sum over all paths, ``log_z`` (S,).");
    m.def("backward", &backward, array("offsets"), nb::arg("low"), nb::arg("high"), array("steps"), array("reach"),
          array("pairs"), WithoutLock(), BACKWARD);
    m.def("draw_paths", &draw_paths, array("offsets"), nb::arg("low"), nb::arg("high"), array("steps"), array("reach"),
          array("uniform"), array("labels"), WithoutLock(),
          "Draw one path per sequence after `forward`: the last label first, then each given the one after it.");
    m.def("level", &levels::name, "Return the level of instructions that was chosen at import: 'avx2' or 'baseline'.");
}
