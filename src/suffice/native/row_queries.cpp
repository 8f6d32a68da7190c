// Queries to a calibrated junction tree: only the cliques between the target and the evidence are touched.
//
// Slow twin: the joint table in tests/native/test_row_queries.py.
#include <nanobind/stl/pair.h>

#include <memory>
#include <utility>

#include "propagation.hpp"

namespace suffice {

namespace {

// The marginals of cliques and separators; for every variable the clique nearest to the root that holds it, or −1; and
// the smallest positive value of every clique's table.
struct Marginals {
    const double *tables, *messages;
    const Int *home;
    const double *floors;
};

// Likelihoods of states, none above one: where those of each variable begin in `weights`, or −1.
struct SoftEvidence {
    const Int *at;
    const double *weights;
};

// Variables in the common order, none of them observed, and a clique that holds them all.
struct Target {
    Int clique;
    const Int *wanted;
    Int n_wanted, n_cells;
};

bool holds(const Tree &tree, Int clique, Int variable) {
    const Int *begin = tree.scope + tree.scope_at[clique], *end = tree.scope + tree.scope_at[clique + 1];
    return std::find(begin, end, variable) != end;
}

// One query, put to one row of evidence after another; used by one thread at a time.
class Query {
   public:
    Query(const Tree &tree, const Marginals &marginals, const SoftEvidence &soft, const Target &target)
        : tree(tree),
          marginals(marginals),
          soft(soft),
          target(target),
          toward(tree.parent, tree.parent + tree.n_cliques),
          needed(tree.n_cliques),
          low(tree.n_cliques),
          entry(tree.n_variables),
          work(new double[tree.largest_table]),
          sent(new double[tree.n_message_cells]) {
        Ints path;  // from the target to the root
        for (Int here = target.clique, below = -1; here >= 0; here = tree.parent[here]) {
            toward[here] = below;
            below = here;
            path.push_back(here);
        }
        for (Int c = 0; c < tree.n_cliques; ++c)
            if (c != target.clique && toward[c] == tree.parent[c]) order.push_back(c);
        order.insert(order.end(), path.rbegin(), path.rend());
    }

    // Write p(wanted | evidence); return log p(evidence).
    //
    // Every clique that is needed is loaded as the slice that agrees with the evidence, receives messages, and sends
    // one towards the target: Σ slice / marginal of the separator, scaled to sum to one.
    LogTotal answer(const Int *codes, double *answer) {
        observed = codes;
        mark();
        std::fill(low.begin(), low.end(), 1.0);
        double log_total = 0.0;
        for (Int c : order) {
            if (!needed[c]) continue;
            load(c);
            if (floor < TINY) return {0.0, Outcome::LOST};
            const double added = receive(c);
            if (added == -INF) return {added, Outcome::IMPOSSIBLE};
            if (floor == 0) return {0.0, Outcome::LOST};
            log_total += added;
            if (c == target.clique) break;
            const Int edge = toward[c] == tree.parent[c] ? c : toward[c];
            const double total = send(c, edge);
            if (!(total > 0)) return {-INF, Outcome::IMPOSSIBLE};
            low[edge] = floor > SMALL ? floor / total : least_of(sent.get() + tree.message_at[edge], part_cells(edge));
            log_total += std::log(total);
        }
        std::fill(answer, answer + target.n_cells, 0.0);
        combine<Op::sum_out>(target.clique, target.wanted, target.n_wanted, answer);
        const double total = sum_range(answer, 0, target.n_cells);
        if (!(total > 0)) return {-INF, Outcome::IMPOSSIBLE};
        divide_range(answer, target.n_cells, total);
        return {log_total + std::log(total), Outcome::FINE};
    }

   private:
    const Tree &tree;
    const Marginals marginals;
    const SoftEvidence soft;
    const Target target;
    Ints toward;             // the next clique on the way to the target; −1 for the target
    Ints order;              // the subtrees off the path from root to target upwards, then that path downwards
    std::vector<char> needed;
    std::vector<double> low;  // bounds from below of the positive values of messages
    Ints entry;              // the clique that takes the evidence on each variable, or −1
    std::unique_ptr<double[]> work, sent;  // room for one clique, and for all messages
    const Int *observed = nullptr;
    Int size = 0;        // cells of the slice in `work`
    double floor = 0.0;  // a bound from below of its positive values; zero if some may have underflowed
    Loop loops[MAX_LOOPS];

    // Mark the cliques between the target and the nearest clique that holds each piece of evidence.
    void mark() {
        std::fill(needed.begin(), needed.end(), 0);
        needed[target.clique] = 1;
        for (Int variable = 0; variable < tree.n_variables; ++variable) {
            entry[variable] = -1;
            if (observed[variable] < 0 && soft.at[variable] < 0) continue;
            Int c = marginals.home[variable];
            while (c != target.clique && holds(tree, toward[c], variable)) c = toward[c];
            entry[variable] = c;
            for (; !needed[c]; c = toward[c]) needed[c] = 1;
        }
    }

    // Number of cells of a separator whose observed variables are sliced away.
    Int part_cells(Int edge) const {
        Int cells = 1;
        for (Int i = tree.part_at[edge]; i < tree.part_at[edge + 1]; ++i)
            if (observed[tree.part[i]] < 0) cells *= tree.sizes[tree.part[i]];
        return cells;
    }

    // Do one operation between the slice of a clique and a table over some of its variables.
    template <Op op, typename Part>
    void combine(Int c, const Int *part, Int n_part, Part *values) {
        const Int end = find_loops(tree.scope, tree.scope_at[c], tree.scope_at[c + 1], part, 0, n_part, tree.sizes,
                                   observed, true, loops, 0)
                            .end;
        sweep<op>(work.get(), values, work.get(), loops, end);
    }

    // Copy the slice of a clique's table that agrees with the evidence.
    void load(Int c) {
        const Int lo = tree.scope_at[c], hi = tree.scope_at[c + 1];
        const FoundLoops found =
            find_loops(tree.scope, lo, hi, tree.scope, lo, hi, tree.sizes, observed, false, loops, 0);
        const double *table = marginals.tables + tree.table_at[c] + found.offset;
        sweep<Op::gather>(table, work.get(), work.get(), loops, found.end);
        size = 1;
        for (Int k = 0; k < found.end; ++k) size *= loops[k].n;
        floor = marginals.floors[c];
        for (Int i = lo; i < hi; ++i) {
            const Int variable = tree.scope[i];
            if (entry[variable] != c || soft.at[variable] < 0) continue;
            const double *weights = soft.weights + soft.at[variable];
            const Int code = std::max<Int>(observed[variable], 0);  // what was observed has no loop, but one weight
            combine<Op::multiply>(c, tree.scope + i, 1, weights + code);
            for (Int k = 0; k < tree.sizes[variable]; ++k)
                if (0 < weights[k] && weights[k] < 1) floor *= weights[k];
        }
    }

    // Multiply the messages that come to a clique; return the logarithm of its scale.
    double receive(Int c) {
        double log_scale = 0.0;
        for (Int k = tree.child_at[c]; k <= tree.child_at[c + 1]; ++k) {
            const bool from_above = k == tree.child_at[c + 1];  // that message comes last
            if (from_above && c == tree.n_cliques - 1) continue;
            const Int edge = from_above ? c : tree.child[k], sender = from_above ? tree.parent[c] : edge;
            if (!needed[sender] || toward[sender] != c) continue;
            if (floor * low[edge] < TINY) {
                const Rescaled rescaled = rescale(work.get(), size);
                floor = rescaled.floor;
                if (rescaled.top == 0) return -INF;
                log_scale += std::log(rescaled.top);
            }
            floor *= low[edge];
            if (floor < TINY) {
                floor = 0.0;
                return log_scale;
            }
            const double *message = sent.get() + tree.message_at[edge];
            combine<Op::multiply>(c, tree.part + tree.part_at[edge], tree.part_at[edge + 1] - tree.part_at[edge],
                                  message);
        }
        return log_scale;
    }

    // Sum a slice to a separator and divide by that separator's marginal; return what the message summed to.
    double send(Int c, Int edge) {
        const Int lo = tree.part_at[edge], hi = tree.part_at[edge + 1], cells = part_cells(edge);
        double *message = sent.get() + tree.message_at[edge];
        std::fill(message, message + cells, 0.0);
        combine<Op::sum_out>(c, tree.part + lo, hi - lo, message);
        const FoundLoops found =
            find_loops(tree.part, lo, hi, tree.part, lo, hi, tree.sizes, observed, false, loops, 0);
        const double *marginal = marginals.messages + tree.message_at[edge] + found.offset;
        sweep<Op::divide>(marginal, message, message, loops, found.end);
        const double total = sum_range(message, 0, cells);
        if (total > 0) divide_range(message, cells, total);
        return total;
    }
};

// Boundary -----------------------------------------------------------------------------------------------------

Marginals checked_marginals(const Tree &tree, const InFloats &tables, const InFloats &messages, const InInts &home,
                            const InFloats &floors) {
    require_length(tables, tree.n_cells, "tables");
    require_length(messages, tree.n_message_cells, "messages");
    require_length(home, tree.n_variables, "home");
    require_length(floors, tree.n_cliques, "floors");
    require_range(home.data(), tree.n_variables, -1, tree.n_cliques, "home");
    return {tables.data(), messages.data(), home.data(), floors.data()};
}

SoftEvidence checked_soft(const Tree &tree, const Marginals &marginals, const InInts &at, const InFloats &weights) {
    require_length(at, tree.n_variables, "soft");
    const Int n_weights = static_cast<Int>(weights.size());
    for (Int variable = 0; variable < tree.n_variables; ++variable) {
        const Int begin = at.data()[variable];
        if (begin < 0) continue;
        if (begin > n_weights - tree.sizes[variable])
            throw std::out_of_range("soft has weights that do not lie inside of the weights");
        require(marginals.home[variable] >= 0, "soft has evidence on a variable that is in no clique");
    }
    return {at.data(), weights.data()};
}

Target checked_target(const Tree &tree, Int clique, const InInts &wanted) {
    if (clique < 0 || clique >= tree.n_cliques)
        throw std::out_of_range("the tree has no clique " + std::to_string(clique));
    const Int n = static_cast<Int>(wanted.size()), lo = tree.scope_at[clique], hi = tree.scope_at[clique + 1];
    require(tree_parts::is_subsequence(wanted.data(), n, tree.scope + lo, hi - lo),
            "wanted must be a subsequence of the clique's variables");
    Int cells = 1;
    for (Int i = 0; i < n; ++i) cells *= tree.sizes[wanted.data()[i]];
    return {clique, wanted.data(), n, cells};
}

// The codes of every variable must lie below these limits: none may be observed of the variables that are wanted.
Ints limits_of_codes(const Tree &tree, const Marginals &marginals, const Target &target) {
    Ints limits(tree.sizes, tree.sizes + tree.n_variables);
    for (Int variable = 0; variable < tree.n_variables; ++variable)
        if (marginals.home[variable] < 0) limits[variable] = 0;
    for (Int i = 0; i < target.n_wanted; ++i) limits[target.wanted[i]] = 0;
    return limits;
}

void require_evidence(const Int *codes, Int n_rows, const Ints &limits) {
    const Int n = static_cast<Int>(limits.size());
    bool inside = true;
    for (Int row = 0; row < n_rows; ++row)
        for (Int variable = 0; variable < n; ++variable) inside &= codes[row * n + variable] < limits[variable];
    if (!inside)
        throw std::out_of_range("codes must be below the number of states, and negative for variables that are wanted");
}

// Raise unless the cliques in `home` hold their variables.
void require_homes(const Tree &tree, const Marginals &marginals) {
    for (Int variable = 0; variable < tree.n_variables; ++variable)
        require(marginals.home[variable] < 0 || holds(tree, marginals.home[variable], variable),
                "home has cliques that do not hold their variables");
}

std::pair<double, Outcome> ask(const Tree &tree, const InFloats &tables, const InFloats &messages, const InInts &home,
                               const InFloats &floors, const InInts &codes, const InInts &soft, const InFloats &weights,
                               Int clique, const InInts &wanted, const OutFloats &answer) {
    const Marginals marginals = checked_marginals(tree, tables, messages, home, floors);
    const SoftEvidence likelihoods = checked_soft(tree, marginals, soft, weights);
    const Target target = checked_target(tree, clique, wanted);
    require_homes(tree, marginals);
    require_length(codes, tree.n_variables, "codes");
    require_length(answer, target.n_cells, "answer");
    require_evidence(codes.data(), 1, limits_of_codes(tree, marginals, target));
    const LogTotal total = Query(tree, marginals, likelihoods, target).answer(codes.data(), answer.data());
    return {total.value, total.outcome};
}

void ask_rows(const Tree &tree, const InFloats &tables, const InFloats &messages, const InInts &home,
              const InFloats &floors, const In<Int, 2> &codes, const InInts &soft, const InFloats &weights, Int clique,
              const InInts &wanted, const Out<double, 2> &answers, const OutFloats &log_p, const OutInts &status) {
    const Marginals marginals = checked_marginals(tree, tables, messages, home, floors);
    const SoftEvidence likelihoods = checked_soft(tree, marginals, soft, weights);
    const Target target = checked_target(tree, clique, wanted);
    const Int n_rows = static_cast<Int>(codes.shape(0));
    require_homes(tree, marginals);
    require_shape(codes, {n_rows, tree.n_variables}, "codes");
    require_shape(answers, {n_rows, target.n_cells}, "answers");
    require_length(log_p, n_rows, "log_p");
    require_length(status, n_rows, "status");
    require_evidence(codes.data(), n_rows, limits_of_codes(tree, marginals, target));
    Query query(tree, marginals, likelihoods, target);
    for (Int row = 0; row < n_rows; ++row) {
        const LogTotal total =
            query.answer(codes.data() + row * tree.n_variables, answers.data() + row * target.n_cells);
        log_p.data()[row] = total.value;
        status.data()[row] = static_cast<Int>(total.outcome);
    }
}

}  // namespace

}  // namespace suffice

NB_MODULE(row_queries, m) {
    using namespace suffice;
    m.doc() = "Queries to a calibrated junction tree: only cliques between the target and the evidence are touched.";
    nb::module_::import_("suffice.native.trees");  // defines Tree and Outcome
    m.def("ask", &ask, nb::arg("tree"), nb::arg("tables").noconvert(), nb::arg("messages").noconvert(),
          nb::arg("home").noconvert(), nb::arg("floors").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("soft").noconvert(), nb::arg("weights").noconvert(), nb::arg("clique"), nb::arg("wanted").noconvert(),
          nb::arg("answer").noconvert(), WithoutLock(),
          R"(Write p(wanted | evidence) from the marginals of a calibrated tree; return log p(evidence) and the outcome.

Parameters
----------
tree : Tree
tables, messages : arrays
    The marginals of cliques and separators.
home : array, shape (n_variables,)
    The clique nearest to the root that holds each variable; -1 for variables in no clique.
floors : array, shape (n_cliques,)
    The smallest positive value of each clique's table, zero where some may have underflowed.
codes : array, shape (n_variables,)
    The state that was observed of each variable, or -1.
soft : array, shape (n_variables,)
    Where in ``weights`` the likelihoods of each variable's states begin, or -1.
weights : array
    Likelihoods; none exceeds one.
clique : int
    A clique that holds all variables of ``wanted``.
wanted : array
    Variables in the common order, none of them observed.
answer : array
    Receives one value per cell of the variables that are wanted; undefined unless it ended well.)");
    m.def("ask_rows", &ask_rows, nb::arg("tree"), nb::arg("tables").noconvert(), nb::arg("messages").noconvert(),
          nb::arg("home").noconvert(), nb::arg("floors").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("soft").noconvert(), nb::arg("weights").noconvert(), nb::arg("clique"), nb::arg("wanted").noconvert(),
          nb::arg("answers").noconvert(), nb::arg("log_p").noconvert(), nb::arg("status").noconvert(), WithoutLock(),
          R"(Ask the same of many rows of evidence; see `ask`.

Parameters
----------
codes : array, shape (n_rows, n_variables)
answers : array, shape (n_rows, n_cells)
log_p : array, shape (n_rows,)
status : array, shape (n_rows,)
    Receives the values of `Outcome`.)");
}
