// Sums over missing states through junction trees, where there are too many states to enumerate.
//
// A situation is a set of missing variables with the states of the observed variables around it. Its sum is log Σ Π of
// the tables over all missing states; what it adds to the expected counts is weight × posterior of every cell.
#include <cmath>
#include <vector>

#include "propagation.hpp"

namespace suffice {

// The tables of cliques and separators of one tree after another, and room for messages.
class Calibration {
  public:
    Calibration(Int n_cells, Int n_message_cells, Int n_cliques, Int largest_message)
        : cliques(n_cells), messages(n_message_cells), floors(n_cliques), room(n_cliques, largest_message) {}

    // Fill the cliques' tables with weight × posterior, and return log Σ Π; where that is −∞, the tables are undefined.
    // Message passing is repeated in logarithms, which `logs` returns, where values may have underflowed.
    template <typename Logs>
    double run(const Tree &tree, const Factors &factors, Logs logs, double weight) {
        const Tables tables{cliques.data(), messages.data(), floors.data()};
        LogTotal total = propagate<Semiring::SUM>(tree, factors, tables, room);
        if (total.outcome == Outcome::LOST) {
            total = propagate<Semiring::LOG>(tree, {logs(), factors.starts, factors.floors}, tables, room);
            if (total.outcome == Outcome::FINE)
                for (Int i = 0; i < tree.n_cells; ++i) cliques[i] = std::exp(cliques[i] - total.value);
        }
        if (total.outcome != Outcome::FINE) return -INF;
        for (Int i = 0; i < tree.n_cells; ++i) cliques[i] *= weight;
        return total.value;
    }

    // Add the marginals of all factors to `expected`, each from `into` on; factors with negative ones are left out.
    void add_factors(const Tree &tree, const Int *into, double *expected) const {
        for (Int c = 0; c < tree.n_cliques; ++c) {
            const double *table = cliques.data() + tree.table_at[c];
            for (Int k = tree.factor_at[c]; k < tree.factor_at[c + 1]; ++k) {
                const Int f = tree.factor[k], pair = tree.factor_pair(f);
                if (into[f] < 0) continue;
                double *part = expected + into[f];
                sweep<Op::sum_out>(table, part, part, tree.loops_of(pair), tree.n_loops(pair));
            }
        }
    }

  private:
    std::vector<double> cliques, messages, floors;
    Workspace room;
};

// Raise unless the marginal of every factor that is wanted lies inside of the expected counts.
void require_targets(const Tree &tree, const Int *into, Int n_expected) {
    bool inside = true;
    for (Int f = 0; f < tree.n_factors; ++f) inside &= into[f] <= n_expected - tree.factor_cells[f];
    if (!inside) throw std::out_of_range("into has a factor that does not lie inside of the expected counts");
}

// Twin: `sums_by_enumeration` in tests/native/test_missing_trees.py.
void sum_by_tree(const Tree &tree, const InFloats &values, const InFloats &logs, const InFloats &floors,
                 const In<Int, 2> &starts, const In<Int, 2> &into, const InFloats &weights, const OutFloats &expected,
                 const OutFloats &log_sums) {
    const Int n = weights.size(), n_factors = tree.n_factors;
    require_length(logs, values.size(), "logs");
    require_length(floors, n_factors, "floors");
    require_shape(starts, {n, n_factors}, "starts");
    require_shape(into, {n, n_factors}, "into");
    require_length(log_sums, n, "log_sums");
    for (Int s = 0; s < n; ++s) {
        require_starts(tree, starts.data() + s * n_factors, values.size());
        require_targets(tree, into.data() + s * n_factors, expected.size());
    }
    Calibration calibration(tree.n_cells, tree.n_message_cells, tree.n_cliques, tree.largest_message);
    for (Int s = 0; s < n; ++s) {
        const Factors factors{values.data(), starts.data() + s * n_factors, floors.data()};
        const double log_sum = calibration.run(tree, factors, [&] { return logs.data(); }, weights.data()[s]);
        log_sums.data()[s] = log_sum;
        if (log_sum > -INF) calibration.add_factors(tree, into.data() + s * n_factors, expected.data());
    }
}

// Situations whose kinds have trees of their own: the cells of their tables that agree with their observed states.
class ForestSums {
  public:
    ForestSums(const Forest &forest, const InInts &table_of, const InInts &kind, const InInts &cells);

    // Add weight × posterior of every cell to `expected`, and write log Σ Π, for the situations from lo to hi. Twin:
    // `sums_by_enumeration` in tests/native/test_missing_trees.py.
    void sum(const InFloats &values, const InFloats &logs, const InFloats &floors, const InFloats &weights, Int lo,
             Int hi, const OutFloats &expected, const OutFloats &log_sums) const;

  private:
    Forest forest;
    Ints first_factor;      // of every tree, among the factors of all trees
    Ints start;             // where each factor begins among the cells of a situation
    Ints n_cells;           // of every tree: the cells of its factors
    Ints table_of;          // the table that each factor is a slice of
    Ints kind;              // the tree of every situation
    Ints cell_at, cells;    // the cells of every situation, one factor after another
    Int n_tables, n_values; // at least so many are needed
};

ForestSums::ForestSums(const Forest &forest_, const InInts &table_of_, const InInts &kind_, const InInts &cells_)
    : forest(forest_), first_factor{0}, table_of(table_of_.data(), table_of_.data() + table_of_.size()),
      kind(kind_.data(), kind_.data() + kind_.size()), cell_at{0}, cells(cells_.data(), cells_.data() + cells_.size()) {
    for (const Tree &tree : forest.trees) {
        Int end = 0;
        for (Int f = 0; f < tree.n_factors; ++f) {
            start.push_back(end);
            require(tree.factor_cells[f] <= tree_parts::MOST_CELLS - end, "a tree's factors have too many cells");
            end += tree.factor_cells[f];
        }
        n_cells.push_back(end);
        first_factor.push_back(first_factor.back() + tree.n_factors);
    }
    require_length(table_of_, first_factor.back(), "table_of");
    require_range(kind.data(), kind.size(), 0, forest.trees.size(), "kind");
    cell_at.reserve(kind.size() + 1);
    for (const Int t : kind) {
        require(n_cells[t] <= static_cast<Int>(cells.size()) - cell_at.back(), "cells has too few entries");
        cell_at.push_back(cell_at.back() + n_cells[t]);
    }
    require_length(cells_, cell_at.back(), "cells");
    require_range(table_of.data(), table_of.size(), 0, tree_parts::MOST_CELLS, "table_of");
    require_range(cells.data(), cells.size(), 0, tree_parts::MOST_CELLS, "cells");
    n_tables = table_of.empty() ? 0 : *std::max_element(table_of.begin(), table_of.end()) + 1;
    n_values = cells.empty() ? 0 : *std::max_element(cells.begin(), cells.end()) + 1;
}

void ForestSums::sum(const InFloats &values, const InFloats &logs, const InFloats &floors, const InFloats &weights,
                     Int lo, Int hi, const OutFloats &expected, const OutFloats &log_sums) const {
    const Int n = kind.size();
    require_room(values, n_values, "values");
    require_length(logs, values.size(), "logs");
    require_length(expected, values.size(), "expected");
    require_room(floors, n_tables, "floors");
    require_length(weights, n, "weights");
    require_length(log_sums, n, "log_sums");
    require(0 <= lo && lo <= hi && hi <= n, "the range from lo to hi is not one of situations");
    Calibration calibration(forest.largest([](const Tree &tree) { return tree.n_cells; }),
                            forest.largest([](const Tree &tree) { return tree.n_message_cells; }),
                            forest.largest([](const Tree &tree) { return tree.n_cliques; }),
                            forest.largest([](const Tree &tree) { return tree.largest_message; }));
    const Int most = n_cells.empty() ? 0 : *std::max_element(n_cells.begin(), n_cells.end());
    const Int most_factors = forest.largest([](const Tree &tree) { return tree.n_factors; });
    std::vector<double> own(most), posterior(most), floor(most_factors);
    for (Int s = lo; s < hi; ++s) {
        const Int t = kind[s], n_own = n_cells[t];
        const Tree &tree = forest.trees[t];
        const Int *cell = cells.data() + cell_at[s], *starts = start.data() + first_factor[t];
        for (Int f = 0; f < tree.n_factors; ++f) floor[f] = floors.data()[table_of[first_factor[t] + f]];
        const auto gather = [&](const InFloats &from) {
            for (Int i = 0; i < n_own; ++i) own[i] = from.data()[cell[i]];
            return own.data();
        };
        const Factors factors{gather(values), starts, floor.data()};
        const double log_sum = calibration.run(tree, factors, [&] { return gather(logs); }, weights.data()[s]);
        log_sums.data()[s] = log_sum;
        if (!(log_sum > -INF)) continue;
        std::fill(posterior.begin(), posterior.begin() + n_own, 0.0);
        calibration.add_factors(tree, starts, posterior.data());
        for (Int i = 0; i < n_own; ++i) expected.data()[cell[i]] += posterior[i];
    }
}

}  // namespace suffice

NB_MODULE(missing_trees, m) {
    using namespace suffice;
    m.doc() = "Sums over missing states through junction trees, where there are too many states to enumerate.";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    nb::module_::import_("suffice.native.trees");  // its classes are arguments here
    m.def("sum_by_tree", &sum_by_tree, nb::arg("tree"), nb::arg("values").noconvert(), nb::arg("logs").noconvert(),
          nb::arg("floors").noconvert(), nb::arg("starts").noconvert(), nb::arg("into").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("expected").noconvert(), nb::arg("log_sums").noconvert(), WithoutLock(),
          R"(Sum the products of tables for situations that share a tree.

Parameters
----------
tree : Tree
values, logs : arrays, shape (n_values,)
    The cells of the factors, none above one, and their logarithms.
floors : array, shape (n_factors,)
    Bounds from below of the factors' positive values, zero where some underflowed.
starts : array, shape (n_situations, n_factors)
    Where each factor begins in ``values``.
into : array, shape (n_situations, n_factors)
    Where its posterior begins in ``expected``; −1 where it is not wanted.
weights : array, shape (n_situations,)
expected : array
    Weight × posterior of every cell is added to it.
log_sums : array, shape (n_situations,)
    Receives log Σ Π; −inf where the sum is zero.)");
    nb::class_<ForestSums>(m, "ForestSums", R"(Sums for situations whose kinds have trees of their own; immutable.

Parameters
----------
forest : Forest
    The tree of every kind, over its missing variables.
table_of : array
    The table that each factor is a slice of, one tree after another.
kind : array, shape (n_situations,)
    The tree of every situation.
cells : array
    The cells of all tables that agree with a situation's observed states, factor by factor, for every situation.)")
        .def(nb::init<const Forest &, const InInts &, const InInts &, const InInts &>(), nb::arg("forest"),
             nb::arg("table_of").noconvert(), nb::arg("kind").noconvert(), nb::arg("cells").noconvert(), WithoutLock())
        .def("sum", &ForestSums::sum, nb::arg("values").noconvert(), nb::arg("logs").noconvert(),
             nb::arg("floors").noconvert(), nb::arg("weights").noconvert(), nb::arg("lo"), nb::arg("hi"),
             nb::arg("expected").noconvert(), nb::arg("log_sums").noconvert(), WithoutLock(),
             R"(Sum the products of tables for a range of situations.

Parameters
----------
values, logs : arrays, shape (n_cells,)
    The cells of all tables, none above one, and their logarithms.
floors : array, shape (n_tables,)
    Bounds from below of the tables' positive values, zero where some underflowed.
weights : array, shape (n_situations,)
lo, hi : int
    The range of situations.
expected : array, shape (n_cells,)
    Weight × posterior of every cell is added to it.
log_sums : array, shape (n_situations,)
    Receives log Σ Π of the situations in the range; −inf where the sum is zero.)");
}
