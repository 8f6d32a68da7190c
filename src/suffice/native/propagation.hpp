// Message passing on junction trees.
//
// Three semirings share the code: SUM, sum–product in linear space, scaled; LOG, the same in logarithms, for products
// whose small values would underflow; MAX, max–sum, in logarithms.
#pragma once

#include <cmath>
#include <memory>

#include "tree.hpp"

namespace suffice {

enum class Semiring : Int { SUM, LOG, MAX };

// How message passing ended; LOST: values may have underflowed, and LOG must be used.
enum class Outcome : Int { FINE, IMPOSSIBLE, LOST };

constexpr double TINY = 1e-280;    // below this, products may underflow
constexpr double SMALL = 1e-30;    // below this, it is worth looking how small the values of a message really are
constexpr double SCANT = 1e-150;   // below this, it is worth looking at a whole table

// All factors (their logarithms unless SUM), each at `starts`; none exceeds one. `floors` are bounds from below of the
// positive values of every factor.
struct Factors {
    const double *values;
    const Int *starts;
    const double *floors;
};

// The tables of all cliques and separators, and a bound from below of the positive values of every clique, zero where
// some may have underflowed. Written by `collect` and `distribute`.
struct Tables {
    double *cliques, *messages, *floors;
};

struct LogTotal {
    double value;  // log Σ Π φ, or max Σ log φ
    Outcome outcome;
};

// Room for message passing on a tree, which can be used again and again, by one thread at a time.
class Workspace {
   public:
    Workspace(Int n_cliques, Int largest_message)
        : memory(new double[static_cast<std::size_t>(2 * (n_cliques + largest_message))]),
          scale(memory.get()),
          low(scale + n_cliques),
          fresh(low + n_cliques),
          third(fresh + largest_message) {}
    explicit Workspace(const Tree &tree) : Workspace(tree.n_cliques, tree.largest_message) {}
    explicit Workspace(const Forest &forest)
        : Workspace(forest.largest([](const Tree &tree) { return tree.n_cliques; }),
                    forest.largest([](const Tree &tree) { return tree.largest_message; })) {}

   private:
    std::unique_ptr<double[]> memory;

   public:
    double *scale;  // what each message was divided by
    double *low;    // bounds from below of the positive values of messages
    double *fresh;  // a new message
    double *third;  // sums of exponentials
};

// Write the sum, or the maximum, of a table over all variables outside of a part.
template <Semiring semiring>
inline void marginalise(const double *table, double *part, Int n_part, double *third, const Loop *loops, Int n_loops) {
    if constexpr (semiring == Semiring::SUM) {
        std::fill(part, part + n_part, 0.0);
        sweep<Op::sum_out>(table, part, third, loops, n_loops);
        return;
    }
    std::fill(part, part + n_part, -INF);
    sweep<Op::max_out>(table, part, third, loops, n_loops);
    if constexpr (semiring == Semiring::LOG) {
        std::fill(third, third + n_part, 0.0);
        sweep<Op::exp_out>(table, part, third, loops, n_loops);
        for (Int i = 0; i < n_part; ++i)
            if (third[i] > 0) part[i] += std::log(third[i]);
    }
}

struct Filled {
    double log_scale, floor;
    Outcome outcome;
};

// Multiply factors and messages into one clique; return the logarithm of its scale, and its floor.
template <Semiring semiring>
inline Filled fill_clique(const Tree &tree, Int c, const Factors &factors, const Tables &tables, Workspace &room) {
    constexpr bool linear = semiring == Semiring::SUM;
    double *table = tables.cliques + tree.table_at[c];
    const Int n = tree.n_cliques, n_cells = tree.table_cells(c);
    const Int n_factors = tree.factor_at[c + 1] - tree.factor_at[c], n_children = tree.child_at[c + 1] - tree.child_at[c];
    double log_scale = 0.0, floor = 1.0;
    if (n_factors + n_children == 0) std::fill(table, table + n_cells, linear ? 1.0 : 0.0);
    for (Int k = 0; k < n_factors + n_children; ++k) {
        const bool is_factor = k < n_factors;
        const Int f = is_factor ? tree.factor[tree.factor_at[c] + k] : tree.child[tree.child_at[c] + k - n_factors];
        const Int pair = is_factor ? tree.factor_pair(f) : n + f;
        const double next_floor = is_factor ? factors.floors[f] : room.low[f];
        if (linear && floor * next_floor < TINY) {
            if (k > 0) {
                const Rescaled rescaled = rescale(table, n_cells);
                floor = rescaled.floor;
                if (rescaled.top == 0) return {-INF, floor, Outcome::IMPOSSIBLE};
                log_scale += std::log(rescaled.top);
            }
            if (floor * next_floor < TINY) return {0.0, floor, Outcome::LOST};
        }
        const double *part = is_factor ? factors.values + factors.starts[f] : tables.messages + tree.message_at[f];
        const Loop *loops = tree.loops_of(pair);
        if (k == 0)
            sweep<Op::assign>(table, part, table, loops, tree.n_loops(pair));
        else
            sweep<linear ? Op::multiply : Op::add>(table, part, table, loops, tree.n_loops(pair));
        floor *= next_floor;
    }
    return {log_scale, floor, Outcome::FINE};
}

// Sum up the root's table; if SUM, scale it to sum to one.
template <Semiring semiring>
inline LogTotal finish_root(double *table, Int n, double log_total, double *floor) {
    if constexpr (semiring == Semiring::SUM) {
        const double total = sum_range(table, 0, n);
        if (!(total > 0)) return {-INF, Outcome::IMPOSSIBLE};
        divide_range(table, n, total);
        *floor /= total;
        return {log_total + std::log(total), Outcome::FINE};
    }
    double top = -INF;
    for (Int i = 0; i < n; ++i) top = std::max(top, table[i]);
    if (top == -INF) return {-INF, Outcome::IMPOSSIBLE};
    if constexpr (semiring == Semiring::MAX) return {top, Outcome::FINE};
    double total = 0.0;
    for (Int i = 0; i < n; ++i) total += std::exp(table[i] - top);
    return {top + std::log(total), Outcome::FINE};
}

// Multiply the factors into their cliques and send messages to the root; return log Σ Π φ, or the maximum.
//
// If SUM, messages are scaled to sum to one.
template <Semiring semiring>
inline LogTotal collect(const Tree &tree, const Factors &factors, const Tables &tables, Workspace &room) {
    const Int n = tree.n_cliques;
    double log_total = 0.0;
    std::fill(room.low, room.low + n, 1.0);
    for (Int c = 0; c < n; ++c) {
        const Filled filled = fill_clique<semiring>(tree, c, factors, tables, room);
        if (filled.outcome != Outcome::FINE) return {filled.log_scale, filled.outcome};
        log_total += filled.log_scale;
        tables.floors[c] = filled.floor;
        if (c == n - 1) break;
        double *message = tables.messages + tree.message_at[c];
        const Int size = tree.message_cells(c);
        marginalise<semiring>(tables.cliques + tree.table_at[c], message, size, room.third, tree.loops_of(c),
                              tree.n_loops(c));
        if constexpr (semiring == Semiring::SUM) {
            const double total = sum_range(message, 0, size);
            if (!(total > 0)) return {-INF, Outcome::IMPOSSIBLE};
            divide_range(message, size, total);
            room.scale[c] = total;
            room.low[c] = filled.floor > SMALL ? filled.floor / total : least_of(message, size);
            log_total += std::log(total);
            if (!(room.low[c] > TINY)) return {0.0, Outcome::LOST};
        }
    }
    return finish_root<semiring>(tables.cliques + tree.table_at[n - 1], tree.table_cells(n - 1), log_total,
                                 tables.floors + n - 1);
}

// The smallest positive value, or infinity.
inline double least_positive(const double *values, Int n) {
    double lowest = INF;
    for (Int i = 0; i < n; ++i)
        if (0 < values[i] && values[i] < lowest) lowest = values[i];
    return lowest;
}

// Return a bound from below of a table's positive values after a message; zero where some may have underflowed.
inline double floor_after(const double *table, Int n_cells, double above, double floor, double scale,
                          const double *ratio, Int size) {
    if (above == 0) return 0.0;
    double low = above / scale;  // the least of the message, since what it replaces is at most one
    if (low * floor < SCANT) {
        low = least_positive(ratio, size);
        if (low == INF) return floor;
        if (low * floor < SCANT) floor = least_positive(table, n_cells);
    }
    return low * floor >= TINY ? low * floor : 0.0;
}

// Send a message that replaces that of the separator above `edge`: the receiver is multiplied by new over old.
template <Semiring semiring>
inline void pass_message(const Tree &tree, Int here, Int there, Int edge, double scale, const Tables &tables,
                         Workspace &room) {
    const Int from_pair = here == edge ? edge : tree.n_cliques + edge;
    const Int to_pair = here == edge ? tree.n_cliques + edge : edge;
    const Int size = tree.message_cells(edge);
    double *message = tables.messages + tree.message_at[edge], *fresh = room.fresh;
    marginalise<semiring>(tables.cliques + tree.table_at[here], fresh, size, room.third, tree.loops_of(from_pair),
                          tree.n_loops(from_pair));
    for (Int i = 0; i < size; ++i) {
        const double next = fresh[i], old = message[i];
        message[i] = next;
        if constexpr (semiring == Semiring::SUM)
            fresh[i] = old > 0 ? next / (old * scale) : 0.0;
        else
            fresh[i] = old > -INF ? next - old : -INF;
    }
    double *receiver = tables.cliques + tree.table_at[there];
    const Loop *loops = tree.loops_of(to_pair);
    if constexpr (semiring == Semiring::SUM) {
        if (tables.floors != nullptr)
            tables.floors[there] = floor_after(receiver, tree.table_cells(there), tables.floors[here],
                                               tables.floors[there], scale, fresh, size);
        sweep<Op::multiply>(receiver, static_cast<const double *>(fresh), fresh, loops, tree.n_loops(to_pair));
    } else {
        sweep<Op::add>(receiver, static_cast<const double *>(fresh), fresh, loops, tree.n_loops(to_pair));
    }
}

// Send messages from the root after `collect`: the tables of cliques and separators become marginals.
template <Semiring semiring>
inline void distribute(const Tree &tree, const Tables &tables, Workspace &room) {
    for (Int c = tree.n_cliques - 2; c >= 0; --c)
        pass_message<semiring>(tree, tree.parent[c], c, c, room.scale[c], tables, room);
}

// Send messages to the root and back; return what `collect` returns.
template <Semiring semiring>
inline LogTotal propagate(const Tree &tree, const Factors &factors, const Tables &tables, Workspace &room) {
    const LogTotal total = collect<semiring>(tree, factors, tables, room);
    if (total.outcome == Outcome::FINE) distribute<semiring>(tree, tables, room);
    return total;
}

// Send messages along a path of neighbouring cliques after one of them was changed; SUM only. The floors are left alone.
inline void follow(const Tree &tree, const Int *path, Int n_path, double *cliques, double *messages, Workspace &room) {
    const Tables tables{cliques, messages, nullptr};
    for (Int k = 0; k + 1 < n_path; ++k) {
        const Int here = path[k], there = path[k + 1];
        const Int edge = tree.parent[here] == there ? here : there;
        pass_message<Semiring::SUM>(tree, here, there, edge, 1.0, tables, room);
    }
}

}  // namespace suffice
