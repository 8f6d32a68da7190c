// Junction trees: message passing, and what learning asks of calibrated tables.
//
// Slow twins: the joint table, in tests/conformance/test_inference.py and tests/inference/test_clique_family.py.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "propagation.hpp"

namespace suffice {

namespace {

// Boundary -----------------------------------------------------------------------------------------------------

template <typename Array>
void require_tables(const Tree &tree, const Array &tables) {
    require_length(tables, tree.n_cells, "tables");
}

template <typename Array>
void require_messages(const Tree &tree, const Array &messages) {
    require_length(messages, tree.n_message_cells, "messages");
}

// Raise unless every factor lies inside of the values between `starts` and the next.
void require_factor_offsets(const Tree &tree, const InInts &starts, Int n_values) {
    require_offsets(starts, tree.n_factors, n_values, "starts");
    require_starts(tree, starts.data(), n_values);
}

void require_clique(const Tree &tree, Int clique) {
    if (clique < 0 || clique >= tree.n_cliques)
        throw std::out_of_range("the tree has no clique " + std::to_string(clique));
}

void require_factor(const Tree &tree, Int factor) {
    if (factor < 0 || factor >= tree.n_factors)
        throw std::out_of_range("the tree has no factor " + std::to_string(factor));
}

// Raise unless neighbours on a path are neighbours in the tree.
void require_path(const Tree &tree, const Int *path, Int n) {
    bool joined = true;
    for (Int k = 0; k + 1 < n; ++k)
        joined &= tree.parent[path[k]] == path[k + 1] || tree.parent[path[k + 1]] == path[k];
    require(joined, "path has cliques one after another that are no neighbours in the tree");
}

// Messages -----------------------------------------------------------------------------------------------------

std::pair<double, Outcome> run_propagate(const Tree &tree, Semiring semiring, const InFloats &values,
                                         const InInts &starts, const InFloats &floors, const OutFloats &tables,
                                         const OutFloats &messages, const OutFloats &table_floors) {
    require_length(starts, tree.n_factors, "starts");
    require_length(floors, tree.n_factors, "floors");
    require_length(table_floors, tree.n_cliques, "table_floors");
    require_tables(tree, tables);
    require_messages(tree, messages);
    require_starts(tree, starts.data(), static_cast<Int>(values.size()));
    Workspace room(tree);
    const Factors factors{values.data(), starts.data(), floors.data()};
    const Tables out{tables.data(), messages.data(), table_floors.data()};
    LogTotal total{};
    switch (semiring) {
        case Semiring::SUM: total = propagate<Semiring::SUM>(tree, factors, out, room); break;
        case Semiring::LOG: total = propagate<Semiring::LOG>(tree, factors, out, room); break;
        case Semiring::MAX: total = propagate<Semiring::MAX>(tree, factors, out, room); break;
    }
    return {total.value, total.outcome};
}

void run_follow(const Tree &tree, const InInts &path, const OutFloats &tables, const OutFloats &messages) {
    const Int n = static_cast<Int>(path.size());
    require_range(path.data(), n, 0, tree.n_cliques, "path");
    require_path(tree, path.data(), n);
    require_tables(tree, tables);
    require_messages(tree, messages);
    Workspace room(tree);
    follow(tree, path.data(), n, tables.data(), messages.data(), room);
}

// Single tables ------------------------------------------------------------------------------------------------

void marginalise_clique(const Tree &tree, Semiring semiring, Int clique, const InInts &wanted, const InFloats &tables,
                        const OutFloats &part) {
    require_clique(tree, clique);
    require_tables(tree, tables);
    const Int n_wanted = static_cast<Int>(wanted.size()), n_part = static_cast<Int>(part.size());
    const Int lo = tree.scope_at[clique], hi = tree.scope_at[clique + 1];
    require(tree_parts::is_subsequence(wanted.data(), n_wanted, tree.scope + lo, hi - lo),
            "wanted must be a subsequence of the clique's variables");
    Int cells = 1;
    for (Int i = 0; i < n_wanted; ++i) cells *= tree.sizes[wanted.data()[i]];
    require_length(part, cells, "part");
    const Ints free(tree.n_variables, -1);
    Loop loops[MAX_LOOPS];
    const Int n_loops = find_loops(tree.scope, lo, hi, wanted.data(), 0, n_wanted, tree.sizes, free.data(), true, loops,
                                   0).end;
    const double *table = tables.data() + tree.table_at[clique];
    if (semiring == Semiring::SUM) {
        marginalise<Semiring::SUM>(table, part.data(), n_part, part.data(), loops, n_loops);
    } else if (semiring == Semiring::MAX) {
        marginalise<Semiring::MAX>(table, part.data(), n_part, part.data(), loops, n_loops);
    } else {
        std::vector<double> third(n_part);
        marginalise<Semiring::LOG>(table, part.data(), n_part, third.data(), loops, n_loops);
    }
}

void marginalise_factor(const Tree &tree, Int factor, const InFloats &tables, const OutFloats &part) {
    require_factor(tree, factor);
    require_tables(tree, tables);
    require_length(part, tree.factor_cells[factor], "part");
    const Int pair = tree.factor_pair(factor);
    marginalise<Semiring::SUM>(tables.data() + tree.table_at[tree.home[factor]], part.data(),
                               static_cast<Int>(part.size()), part.data(), tree.loops_of(pair), tree.n_loops(pair));
}

void multiply_factor(const Tree &tree, Int factor, const OutFloats &tables, const InFloats &part) {
    require_factor(tree, factor);
    require_tables(tree, tables);
    require_length(part, tree.factor_cells[factor], "part");
    const Int pair = tree.factor_pair(factor);
    double *table = tables.data() + tree.table_at[tree.home[factor]];
    sweep<Op::multiply>(table, part.data(), table, tree.loops_of(pair), tree.n_loops(pair));
}

// Learning -----------------------------------------------------------------------------------------------------

void marginalise_factors(const Tree &tree, const InFloats &tables, const InInts &starts, const OutFloats &out) {
    require_tables(tree, tables);
    require_factor_offsets(tree, starts, static_cast<Int>(out.size()));
    double *sums = out.data();
    std::fill(sums, sums + out.size(), 0.0);
    for (Int k = 0; k < tree.n_factors; ++k) {  // clique by clique
        const Int f = tree.factor[k], pair = tree.factor_pair(f);
        sweep<Op::sum_out>(tables.data() + tree.table_at[tree.home[f]], sums + starts.data()[f], sums,
                           tree.loops_of(pair), tree.n_loops(pair));
    }
}

// Write E[work | separator above `edge`] of one clique, where `pair` are the loops of that separator in it.
void condition_on_separator(const Tree &tree, Int clique, Int edge, Int pair, const double *work, const double *tables,
                            const double *messages, double *out) {
    const Int to = tree.message_at[edge], end = tree.message_at[edge + 1], at = tree.table_at[clique];
    std::fill(out + to, out + end, 0.0);
    sweep<Op::weighted_out>(work + at, out + to, tables + at, tree.loops_of(pair), tree.n_loops(pair));
    for (Int i = to; i < end; ++i) out[i] = messages[i] > 0 ? out[i] / messages[i] : 0.0;
}

// The covariance of every factor's cells with Σ direction.
//
// E[Σ direction | x_C] of every clique comes from messages of conditional expectations to the root and back; then
// out(x_f) = p(x_f) (E[Σ direction | x_f] − E[Σ direction]).
void multiply_covariance(const Tree &tree, const InFloats &tables, const InFloats &messages, const InInts &starts,
                         const InFloats &direction, const OutFloats &work_room, const OutFloats &up_room,
                         const OutFloats &down_room, const OutFloats &out) {
    require_tables(tree, tables);
    require_messages(tree, messages);
    require_length(work_room, tree.n_cells, "work");
    require_length(up_room, tree.n_message_cells, "up");
    require_length(down_room, tree.n_message_cells, "down");
    require_length(direction, static_cast<Int>(out.size()), "direction");
    require_factor_offsets(tree, starts, static_cast<Int>(out.size()));
    const Int n = tree.n_cliques;
    double *work = work_room.data(), *up = up_room.data(), *down = down_room.data();
    const double *p = tables.data();
    const auto add = [&](Int clique, Int pair, const double *part) {
        sweep<Op::add>(work + tree.table_at[clique], part, work, tree.loops_of(pair), tree.n_loops(pair));
    };
    std::fill(work, work + tree.n_cells, 0.0);
    for (Int c = 0; c < n; ++c) {
        for (Int k = tree.factor_at[c]; k < tree.factor_at[c + 1]; ++k)
            add(c, tree.factor_pair(tree.factor[k]), direction.data() + starts.data()[tree.factor[k]]);
        for (Int k = tree.child_at[c]; k < tree.child_at[c + 1]; ++k)
            add(c, n + tree.child[k], up + tree.message_at[tree.child[k]]);
        if (c < n - 1) condition_on_separator(tree, c, c, c, work, p, messages.data(), up);
    }
    double mean = 0.0;
    for (Int i = tree.table_at[n - 1]; i < tree.table_at[n]; ++i) mean += p[i] * work[i];
    for (Int c = n - 2; c >= 0; --c) {
        condition_on_separator(tree, tree.parent[c], c, n + c, work, p, messages.data(), down);
        for (Int i = tree.message_at[c]; i < tree.message_at[c + 1]; ++i) down[i] -= up[i];
        add(c, c, down + tree.message_at[c]);
    }
    for (Int i = 0; i < tree.n_cells; ++i) work[i] -= mean;
    std::fill(out.data(), out.data() + out.size(), 0.0);
    for (Int k = 0; k < tree.n_factors; ++k) {  // clique by clique
        const Int f = tree.factor[k], pair = tree.factor_pair(f), at = tree.table_at[tree.home[f]];
        sweep<Op::weighted_out>(work + at, out.data() + starts.data()[f], p + at, tree.loops_of(pair),
                                tree.n_loops(pair));
    }
}

// One step of proportional fitting: write target / marginal into `ratio`, which holds the marginal, and multiply the
// potentials by it; return Σ target log(target / marginal), Σ marginal and max |target − marginal|.
std::tuple<double, double, double> scale_to_target(double *ratio, const double *targets, double *potentials, Int n) {
    double gain = 0.0, total = 0.0, gap = 0.0;
    for (Int i = 0; i < n; ++i) {
        const double found = ratio[i], wanted = targets[i];
        total += found;
        gap = std::max(gap, std::abs(wanted - found));
        if (wanted > 0) {
            ratio[i] = found > 0 ? wanted / found : INF;
            gain += wanted * std::log(ratio[i]);
        } else {
            ratio[i] = 0.0;
        }
        potentials[i] *= ratio[i];  // eq ipf-step
    }
    return {gain, total, gap};
}

void require_visits(const Tree &tree, const InInts &visits, const InInts &path_at, const InInts &path,
                    const InInts &starts) {
    const Int n = static_cast<Int>(visits.size());
    require_range(visits.data(), n, 0, tree.n_factors, "visits");
    require_offsets(path_at, n, static_cast<Int>(path.size()), "path_at");
    require_range(path.data(), static_cast<Int>(path.size()), 0, tree.n_cliques, "path");
    for (Int visit = 0; visit < n; ++visit) {
        const Int f = visits.data()[visit], lo = path_at.data()[visit], hi = path_at.data()[visit + 1];
        require(lo < hi, "every visit has a path of at least one clique");
        require_path(tree, path.data() + lo, hi - lo);
        require(path.data()[hi - 1] == tree.home[f], "the path of a visit must end at the factor's clique");
        require(starts.data()[f + 1] - starts.data()[f] == tree.factor_cells[f],
                "starts must leave as many cells as a factor has");
    }
}

void fit_in_turn(const Tree &tree, const InInts &visits, const InInts &path_at, const InInts &path,
                 const InInts &starts, const InFloats &targets, const OutFloats &potentials, const OutFloats &tables,
                 const OutFloats &messages, const OutFloats &gains, const OutFloats &totals, const OutFloats &gaps) {
    const Int n = static_cast<Int>(visits.size());
    require_tables(tree, tables);
    require_messages(tree, messages);
    require_factor_offsets(tree, starts, static_cast<Int>(potentials.size()));
    require_length(targets, static_cast<Int>(potentials.size()), "targets");
    require_length(gains, n, "gains");
    require_length(totals, n, "totals");
    require_length(gaps, n, "gaps");
    require_visits(tree, visits, path_at, path, starts);
    Workspace room(tree);
    std::vector<double> ratio(n == 0 ? 0 : *std::max_element(tree.factor_cells, tree.factor_cells + tree.n_factors));
    for (Int visit = 0; visit < n; ++visit) {
        const Int from = path_at.data()[visit], f = visits.data()[visit], pair = tree.factor_pair(f);
        follow(tree, path.data() + from, path_at.data()[visit + 1] - from, tables.data(), messages.data(), room);
        double *table = tables.data() + tree.table_at[tree.home[f]];
        const Int size = tree.factor_cells[f], lo = starts.data()[f];
        marginalise<Semiring::SUM>(table, ratio.data(), size, ratio.data(), tree.loops_of(pair), tree.n_loops(pair));
        std::tie(gains.data()[visit], totals.data()[visit], gaps.data()[visit]) =
            scale_to_target(ratio.data(), targets.data() + lo, potentials.data() + lo, size);
        sweep<Op::multiply>(table, static_cast<const double *>(ratio.data()), table, tree.loops_of(pair),
                            tree.n_loops(pair));
    }
}

// Python -------------------------------------------------------------------------------------------------------

using View = nb::ndarray<nb::numpy, const Int, nb::ndim<1>, nb::c_contig>;
using LoopView = nb::ndarray<nb::numpy, const Int, nb::shape<-1, 3>, nb::c_contig>;
using TreeState = std::tuple<Ints, Scopes, Scopes, Ints, Scopes, Ints>;

View view(const Int *data, Int n) { return View(data, {static_cast<std::size_t>(n)}); }

TreeState state_of(const Tree &tree) {
    const TreeParts &p = tree.parts();
    return {p.sizes, p.cliques, p.separators, p.parent, p.factor_scopes, p.homes};
}

void bind_tree(nb::module_ &m) {
    const auto inside = nb::rv_policy::reference_internal;
    nb::class_<Tree>(m, "Tree",
                     R"(A junction tree, immutable. All scopes list their variables in one common order.

Parameters
----------
sizes : sequence of int
    Number of states of every variable.
cliques : sequence of sequences of int
    The variables of every clique; cliques come before their parents, the root is last.
separators : sequence of sequences of int
    The variables that every clique shares with its parent; none for the root.
parents : sequence of int
    −1 for the root.
factor_scopes : sequence of sequences of int
    The variables of every factor that are not observed.
homes : sequence of int
    The clique that each factor is multiplied into.

Notes
-----
``x_at`` arrays have one entry more than there are x: those of number i are ``x[x_at[i] : x_at[i + 1]]``.)")
        .def(
            "__init__",
            [](Tree *tree, Ints sizes, Scopes cliques, Scopes separators, Ints parents, Scopes factor_scopes,
               Ints homes) {
                new (tree) Tree(TreeParts{std::move(sizes), std::move(cliques), std::move(separators),
                                          std::move(parents), std::move(factor_scopes), std::move(homes)});
            },
            nb::arg("sizes"), nb::arg("cliques"), nb::arg("separators"), nb::arg("parents"), nb::arg("factor_scopes"),
            nb::arg("homes"))
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](Tree &tree, const TreeState &s) {
                 new (&tree) Tree(TreeParts{std::get<0>(s), std::get<1>(s), std::get<2>(s), std::get<3>(s),
                                            std::get<4>(s), std::get<5>(s)});
             })
        .def_ro("n_variables", &Tree::n_variables)
        .def_ro("n_cliques", &Tree::n_cliques)
        .def_ro("n_factors", &Tree::n_factors)
        .def_prop_ro("nbytes", &Tree::nbytes, "Bytes of all arrays.")
        .def_prop_ro("sizes", [](const Tree &t) { return view(t.sizes, t.n_variables); }, inside)
        .def_prop_ro("scope_at", [](const Tree &t) { return view(t.scope_at, t.n_cliques + 1); }, inside)
        .def_prop_ro("scope", [](const Tree &t) { return view(t.scope, t.scope_at[t.n_cliques]); }, inside,
                     "The variables of every clique.")
        .def_prop_ro("part_at", [](const Tree &t) { return view(t.part_at, t.n_cliques + 1); }, inside)
        .def_prop_ro("part", [](const Tree &t) { return view(t.part, t.part_at[t.n_cliques]); }, inside,
                     "The variables of the separator above every clique.")
        .def_prop_ro("table_at", [](const Tree &t) { return view(t.table_at, t.n_cliques + 1); }, inside,
                     "Where each clique's table begins.")
        .def_prop_ro("message_at", [](const Tree &t) { return view(t.message_at, t.n_cliques + 1); }, inside,
                     "Where each separator's table begins.")
        .def_prop_ro("parent", [](const Tree &t) { return view(t.parent, t.n_cliques); }, inside)
        .def_prop_ro("child_at", [](const Tree &t) { return view(t.child_at, t.n_cliques + 1); }, inside)
        .def_prop_ro("child", [](const Tree &t) { return view(t.child, t.child_at[t.n_cliques]); }, inside,
                     "The children of every clique.")
        .def_prop_ro("factor_at", [](const Tree &t) { return view(t.factor_at, t.n_cliques + 1); }, inside)
        .def_prop_ro("factor", [](const Tree &t) { return view(t.factor, t.n_factors); }, inside,
                     "The factors of every clique.")
        .def_prop_ro("factor_cells", [](const Tree &t) { return view(t.factor_cells, t.n_factors); }, inside,
                     "Number of cells of every factor without its observed variables.")
        .def_prop_ro("loop_at", [](const Tree &t) { return view(t.loop_at, t.n_pairs() + 1); }, inside)
        .def_prop_ro(
            "loops",
            [](const Tree &t) {
                return LoopView(t.loops, {static_cast<std::size_t>(t.loop_at[t.n_pairs()]), std::size_t{3}});
            },
            inside,
            "Rows (n, stride in the table, stride in the part): separators in their cliques, in the parents of these, "
            "factors in their cliques.");
    nb::class_<Forest>(m, "Forest", "Several junction trees, immutable.")
        .def("__init__", [](Forest *forest, std::vector<Tree> trees) { new (forest) Forest{std::move(trees)}; },
             nb::arg("trees"))
        .def("__getstate__", [](const Forest &forest) { return std::make_tuple(forest.trees); })
        .def("__setstate__", [](Forest &forest, std::tuple<std::vector<Tree>> s) {
            new (&forest) Forest{std::move(std::get<0>(s))};
        })
        .def("__len__", [](const Forest &forest) { return forest.trees.size(); });
}

void bind_messages(nb::module_ &m) {
    m.def("propagate", &run_propagate, nb::arg("tree"), nb::arg("semiring"), nb::arg("values").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("floors").noconvert(), nb::arg("tables").noconvert(),
          nb::arg("messages").noconvert(), nb::arg("table_floors").noconvert(), WithoutLock(),
          R"(Send messages to the root and back; return log Σ Π φ, or the maximum, and how it ended.

Parameters
----------
tree : Tree
semiring : Semiring
values : array
    All factors (their logarithms unless SUM); none exceeds one (zero).
starts : array, shape (n_factors,)
    Where each factor begins in ``values``.
floors : array, shape (n_factors,)
    A bound from below of the positive values of every factor.
tables, messages : arrays
    Receive the marginals of cliques and separators, (logarithms unless SUM); undefined unless it ended well.
table_floors : array, shape (n_cliques,)
    Receives a bound from below of the positive values of every table, zero where some may have underflowed.)");
    m.def("follow", &run_follow, nb::arg("tree"), nb::arg("path").noconvert(), nb::arg("tables").noconvert(),
          nb::arg("messages").noconvert(), WithoutLock(),
          "Send messages along a path of neighbouring cliques after the first of them was changed.");
    m.def("marginalise_clique", &marginalise_clique, nb::arg("tree"), nb::arg("semiring"), nb::arg("clique"),
          nb::arg("wanted").noconvert(), nb::arg("tables").noconvert(), nb::arg("part").noconvert(), WithoutLock(),
          "Write the sum, or the maximum, of a clique's table over all variables but those wanted (in the common order).");
    m.def("marginalise_factor", &marginalise_factor, nb::arg("tree"), nb::arg("factor"), nb::arg("tables").noconvert(),
          nb::arg("part").noconvert(), WithoutLock(), "Write the marginal of a factor's scope from its clique's table.");
    m.def("multiply_factor", &multiply_factor, nb::arg("tree"), nb::arg("factor"), nb::arg("tables").noconvert(),
          nb::arg("part").noconvert(), WithoutLock(), "Multiply the table of a factor's clique by a table over its scope.");
}

void bind_learning(nb::module_ &m) {
    m.def("marginalise_factors", &marginalise_factors, nb::arg("tree"), nb::arg("tables").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Write the marginals of all factors' scopes from calibrated tables, each at ``starts``, shape (n_factors + 1,).");
    m.def("multiply_covariance", &multiply_covariance, nb::arg("tree"), nb::arg("tables").noconvert(),
          nb::arg("messages").noconvert(), nb::arg("starts").noconvert(), nb::arg("direction").noconvert(),
          nb::arg("work").noconvert(), nb::arg("up").noconvert(), nb::arg("down").noconvert(),
          nb::arg("out").noconvert(), WithoutLock(),
          R"(Write the covariance of every factor's cells with Σ direction, from calibrated tables.

Parameters
----------
tree : Tree
tables, messages : arrays
    The marginals of cliques and separators.
starts : array, shape (n_factors + 1,)
    Where each factor begins in ``direction`` and in ``out``.
direction, out : arrays
work, up, down : arrays
    Room like ``tables``, ``messages`` and ``messages``.)");
    m.def("fit_in_turn", &fit_in_turn, nb::arg("tree"), nb::arg("visits").noconvert(), nb::arg("path_at").noconvert(),
          nb::arg("path").noconvert(), nb::arg("starts").noconvert(), nb::arg("targets").noconvert(),
          nb::arg("potentials").noconvert(), nb::arg("tables").noconvert(), nb::arg("messages").noconvert(),
          nb::arg("gains").noconvert(), nb::arg("totals").noconvert(), nb::arg("gaps").noconvert(), WithoutLock(),
          R"(Proportional fitting of factors one after another, the marginals following along the tree.

Parameters
----------
tree : Tree
visits : array, shape (n_visits,)
    The factors in the order in which they are fitted.
path_at, path : arrays
    The cliques on the way to each visit's clique, from that of the visit before.
starts : array, shape (n_factors + 1,)
    Where factors begin in the next two.
targets, potentials : arrays
    The marginals wanted, and the potentials, which are multiplied by target over marginal.
tables, messages : arrays
    Marginals that are right at the first path's beginning; changed.
gains, totals, gaps : arrays, shape (n_visits,)
    Receive Σ target log(target / marginal), Σ marginal and max |target − marginal| of every visit, before its step.)");
}

}  // namespace

}  // namespace suffice

NB_MODULE(trees, m) {
    using namespace suffice;
    m.doc() = "Junction trees: message passing, and what learning asks of calibrated tables.";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    nb::enum_<Semiring>(m, "Semiring", nb::is_arithmetic(), "How tables are combined and summed.")
        .value("SUM", Semiring::SUM, "Sum–product, scaled.")
        .value("LOG", Semiring::LOG, "Sum–product in logarithms.")
        .value("MAX", Semiring::MAX, "Max–sum: the greatest instead of the sum, in logarithms.");
    nb::enum_<Outcome>(m, "Outcome", nb::is_arithmetic(), "How message passing ended.")
        .value("FINE", Outcome::FINE)
        .value("IMPOSSIBLE", Outcome::IMPOSSIBLE, "The product is zero everywhere.")
        .value("LOST", Outcome::LOST, "Values may have underflowed: use logarithms.");
    bind_tree(m);
    bind_messages(m);
    bind_learning(m);
}
