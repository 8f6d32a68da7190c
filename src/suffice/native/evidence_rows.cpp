// Rows of evidence, each sent through one junction tree whose tables are sliced by what the row observed.
//
// Of a clique's table only the cells that agree with the row are ever made: one cell where all was observed. Messages
// go to the root and back in linear space, scaled; a row whose values lie too far apart for that is returned as LOST.
#include "arrays.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace suffice {

using Int = std::int64_t;
using Code = std::int32_t;
using Ints = std::vector<Int>;

constexpr Int FINE = 0, IMPOSSIBLE = 1, LOST = 2;
constexpr double TINY = 1e-280;      // below this, products may lose values
constexpr double SMALL = 1e-60;      // tables whose largest value is below this are scaled
constexpr double MOST_CELLS = 1e15;  // no memory has room for so many
constexpr double INF = std::numeric_limits<double>::infinity();

// Lists one after another: list number i is values[at[i]] to values[at[i + 1]].
struct Lists {
    Ints at, values;

    Int n() const { return static_cast<Int>(at.size()) - 1; }
    const Int *begin(Int i) const { return values.data() + at[i]; }
    const Int *end(Int i) const { return values.data() + at[i + 1]; }

    // Raise an error unless there are n lists of values in 0 <= value < limit.
    void check(Int n_lists, Int limit, const char *name) const {
        if (static_cast<Int>(at.size()) != n_lists + 1 || at.front() != 0 || !std::is_sorted(at.begin(), at.end()) ||
            at.back() != static_cast<Int>(values.size()))
            throw std::invalid_argument(std::string(name) + "_at must rise from 0 to the length of " + name);
        require_range(values.data(), at.back(), 0, limit, name);
    }
};

// A junction tree and its factors; cliques come before their parents, the root is last.
class SlicedTree {
  public:
    using State = std::array<Ints, 14>;

    Ints sizes;     // number of states of every variable
    Lists scope;    // the variables of every clique, in one common order
    Lists part;     // the variables of the separator above every clique; none for the root
    Ints parent;    // −1 for the root
    Lists child;    // the children of every clique
    Lists factor;   // the factors that every clique holds
    Lists member;   // the variables of every factor
    Ints stride;    // their strides in the factor's table
    Ints start;     // where each factor's table begins, and where the last one ends
    Int n_cliques;

    explicit SlicedTree(State state)
        : sizes(std::move(state[0])), scope{std::move(state[1]), std::move(state[2])},
          part{std::move(state[3]), std::move(state[4])}, parent(std::move(state[5])),
          child{std::move(state[6]), std::move(state[7])}, factor{std::move(state[8]), std::move(state[9])},
          member{std::move(state[10]), std::move(state[11])}, stride(std::move(state[12])), start(std::move(state[13])),
          n_cliques(static_cast<Int>(parent.size())) {
        check_lists();
        check_family();
        check_scopes();
        for (Int f = 0; f < n_factors(); ++f) check_factor(f);
    }

    Int n_variables() const { return static_cast<Int>(sizes.size()); }
    Int n_factors() const { return static_cast<Int>(start.size()) - 1; }

    State state() const {
        return {sizes,    scope.at,  scope.values,  part.at,   part.values,   parent, child.at,
                child.values, factor.at, factor.values, member.at, member.values, stride, start};
    }

  private:
    void check_lists() const {
        require(!start.empty(), "start has no entries, and needs one more than there are factors");
        require_range(sizes.data(), n_variables(), 1, std::numeric_limits<Code>::max(), "sizes");
        scope.check(n_cliques, n_variables(), "scope");
        part.check(n_cliques, n_variables(), "part");
        child.check(n_cliques, n_cliques, "child");
        factor.check(n_cliques, n_factors(), "factor");
        member.check(n_factors(), n_variables(), "member");
        require(stride.size() == member.values.size(), "stride must have the length of member");
    }

    // Cliques come before their parents, and are their children once.
    void check_family() const {
        require(static_cast<Int>(child.values.size()) == std::max<Int>(n_cliques - 1, 0),
                "child must hold every clique but the root");
        Ints found(n_cliques, -1);
        for (Int c = 0; c < n_cliques; ++c)
            for (const Int *other = child.begin(c); other < child.end(c); ++other) {
                require(*other < c && found[*other] == -1, "child must hold cliques before their parent, once");
                found[*other] = c;
            }
        require(found == parent, "parent and child must agree, and the root, -1, must be last");
    }

    // Scopes hold no variable twice; separators and factors lie within the cliques that use them.
    void check_scopes() const {
        Ints holder(n_variables(), -1), under(n_variables(), -1);
        for (Int c = 0; c < n_cliques; ++c) {
            for (const Int *v = scope.begin(c); v < scope.end(c); ++v) {
                require(holder[*v] != c, "scope must not hold a variable twice");
                holder[*v] = c;
            }
            for (const Int *v = part.begin(c); v < part.end(c); ++v) {
                require(holder[*v] == c && under[*v] != c, "part must hold variables of its clique, once");
                under[*v] = c;
            }
            for (const Int *other = child.begin(c); other < child.end(c); ++other)
                for (const Int *v = part.begin(*other); v < part.end(*other); ++v)
                    require(holder[*v] == c, "part must hold variables of the clique above it");
            for (const Int *f = factor.begin(c); f < factor.end(c); ++f)
                for (const Int *v = member.begin(*f); v < member.end(*f); ++v)
                    require(holder[*v] == c, "member must hold variables of the clique that holds the factor");
        }
        require(n_cliques == 0 || part.begin(n_cliques - 1) == part.end(n_cliques - 1),
                "part must be empty for the root");
    }

    // The strides of a factor stay within its table.
    void check_factor(Int f) const {
        require(start[f] >= 0 && start[f] < start[f + 1], "start must begin with 0 or more, and rise");
        Int room = start[f + 1] - start[f] - 1;
        for (Int i = member.at[f]; i < member.at[f + 1]; ++i) {
            const Int steps = sizes[member.values[i]] - 1;
            if (stride[i] < 0 || (steps > 0 && stride[i] > room / steps))
                throw std::out_of_range("stride leads out of the table of factor " + std::to_string(f));
            room -= steps * stride[i];
        }
    }
};

// The cells of all tables, or of all separators, that a row leaves.
double count_row(const SlicedTree &tree, const Lists &lists, const Code *codes) {
    double total = 0.0;
    for (Int c = 0; c < tree.n_cliques; ++c) {
        double size = 1.0;
        for (const Int *v = lists.begin(c); v < lists.end(c); ++v)
            if (codes[*v] < 0) size *= static_cast<double>(tree.sizes[*v]);
        total += size;
    }
    return total;
}

// One free variable of a clique: its states, its stride in the table that is combined with the clique's, and a digit.
struct Loop {
    Int variable, n, step, digit;
};

// The messages of one row after another, and their room.
class RowMessages {
  public:
    RowMessages(const SlicedTree &tree, const double *tables, Int n_cells, Int n_messages)
        : tree(tree), tables(tables), table(new double[n_cells]), message(new double[n_messages]),
          fresh(new double[n_messages]), at(tree.n_cliques), message_at(tree.n_cliques), scale(tree.n_cliques),
          strides(tree.n_variables(), 0), loops(tree.n_variables() + 1) {}

    // Send messages to the root; return log p of what was observed, and how it went.
    std::pair<double, Int> collect(const Code *codes) {
        double log_p = 0.0;
        Int end = 0, message_end = 0;
        for (Int c = 0; c < tree.n_cliques; ++c) {
            at[c] = end;
            message_at[c] = message_end;
            end += find_free(c, codes);
            std::fill(table.get() + at[c], table.get() + end, 1.0);
            for (const Int *f = tree.factor.begin(c); f < tree.factor.end(c); ++f) {
                const Int begin = slice_factor(*f, codes);
                const Int status = multiply_scaled(c, tables + begin, log_p);
                clear(tree.member, *f);
                if (status != FINE) return {-INF, status};
            }
            for (const Int *other = tree.child.begin(c); other < tree.child.end(c); ++other) {
                lay_part(*other, codes);
                const Int status = multiply_scaled(c, message.get() + message_at[*other], log_p);
                clear(tree.part, *other);
                if (status != FINE) return {-INF, status};
            }
            message_end += lay_part(c, codes);
            const bool lost = !send_up(c, message_end);
            clear(tree.part, c);
            if (lost) return {-INF, LOST};
            log_p += std::log(scale[c]);
        }
        return {log_p, FINE};
    }

    // Send messages from the root, and add the marginals of all factors to the expected counts.
    void distribute(const Code *codes, double weight, double *expected) {
        for (Int c = tree.n_cliques - 1; c >= 0; --c) {
            const Int size = lay_part(c, codes);
            std::fill(fresh.get(), fresh.get() + size, 0.0);
            if (c == tree.n_cliques - 1) {
                fresh[0] = 1.0;
            } else {
                find_free(tree.parent[c], codes);
                add(tree.parent[c], 1.0, fresh.get());
            }
            const double *old = message.get() + message_at[c];
            for (Int i = 0; i < size; ++i) fresh[i] = old[i] > 0 ? fresh[i] / (old[i] * scale[c]) : 0.0;
            find_free(c, codes);
            multiply(c, fresh.get());
            clear(tree.part, c);
            for (const Int *f = tree.factor.begin(c); f < tree.factor.end(c); ++f) {
                const Int begin = slice_factor(*f, codes);
                add(c, weight, expected + begin);
                clear(tree.member, *f);
            }
        }
    }

  private:
    struct Product {
        double top;
        bool lost;
    };

    const SlicedTree &tree;
    const double *tables;
    std::unique_ptr<double[]> table, message, fresh;
    Ints at, message_at;
    std::vector<double> scale;
    Ints strides;  // of every variable in the table that is combined with the clique's, zero where it is not in it
    std::vector<Loop> loops;
    Int n_loops = 0, cells = 1;

    // Find the variables of a clique that were not observed; return its number of cells.
    Int find_free(Int c, const Code *codes) {
        n_loops = 0;
        cells = 1;
        for (const Int *v = tree.scope.begin(c); v < tree.scope.end(c); ++v)
            if (codes[*v] < 0) {
                loops[n_loops++] = {*v, tree.sizes[*v], 0, 0};
                cells *= tree.sizes[*v];
            }
        return cells;
    }

    // Write the strides of a separator's variables that were not observed; return its number of cells.
    Int lay_part(Int c, const Code *codes) {
        Int size = 1;
        for (const Int *v = tree.part.end(c); v > tree.part.begin(c);) {
            --v;
            if (codes[*v] < 0) {
                strides[*v] = size;
                size *= tree.sizes[*v];
            }
        }
        return size;
    }

    // Write the strides of a factor's variables that were not observed; return where its slice begins.
    Int slice_factor(Int f, const Code *codes) {
        Int begin = tree.start[f];
        for (Int i = tree.member.at[f]; i < tree.member.at[f + 1]; ++i) {
            const Int variable = tree.member.values[i];
            if (codes[variable] < 0)
                strides[variable] = tree.stride[i];
            else
                begin += codes[variable] * tree.stride[i];
        }
        return begin;
    }

    void clear(const Lists &lists, Int i) {
        for (const Int *v = lists.begin(i); v < lists.end(i); ++v) strides[*v] = 0;
    }

    // Call inner(cell, place, n, step) for every run of the clique's innermost loop: its first cell, the place in the
    // other table that belongs to it, the number of cells, and the step between places.
    template <typename Inner>
    void for_each_run(Inner inner) {
        for (Int k = 0; k < n_loops; ++k) {
            loops[k].step = strides[loops[k].variable];
            loops[k].digit = 0;
        }
        const Int n = n_loops > 0 ? loops[n_loops - 1].n : 1, step = n_loops > 0 ? loops[n_loops - 1].step : 0;
        Int place = 0;
        for (Int cell = 0; cell < cells; cell += n) {
            inner(cell, place, n, step);
            for (Int k = n_loops - 2; k >= 0; --k) {
                Loop &loop = loops[k];
                place += loop.step;
                if (++loop.digit < loop.n) break;
                place -= loop.step * loop.n;
                loop.digit = 0;
            }
        }
    }

    // Multiply a clique's table by one over some of its variables; return its largest value, and whether values were
    // lost.
    Product multiply(Int c, const double *other) {
        double *own = table.get() + at[c];
        if (cells == 1) {
            const double before = own[0];
            own[0] = before * other[0];
            const double top = std::max(0.0, own[0]);
            return {top, top == 0 && before > 0 && other[0] > 0};
        }
        double top = 0.0;
        bool lost = false;
        for_each_run([&](Int cell, Int place, Int n, Int step) {
            for (Int i = 0; i < n; ++i) {
                const double before = own[cell + i], by = other[place + i * step], value = before * by;
                own[cell + i] = value;
                top = std::max(top, value);
                lost |= value < TINY && before > 0 && by > 0;
            }
        });
        return {top, lost};
    }

    // Multiply a clique's table, and divide it by its largest value where that is small.
    Int multiply_scaled(Int c, const double *other, double &log_p) {
        const auto [top, lost] = multiply(c, other);
        if (lost || !(top > 0)) return lost ? LOST : IMPOSSIBLE;
        if (top < SMALL) {
            double *own = table.get() + at[c];
            for (Int i = 0; i < cells; ++i) own[i] /= top;
            log_p += std::log(top);
        }
        return FINE;
    }

    // Add a clique's table, weighted, to one over some of its variables.
    void add(Int c, double weight, double *out) {
        const double *own = table.get() + at[c];
        for_each_run([&](Int cell, Int place, Int n, Int step) {
            for (Int i = 0; i < n; ++i) out[place + i * step] += weight * own[cell + i];
        });
    }

    // Write a clique's message, scaled to sum to one; return whether all its values could be kept.
    bool send_up(Int c, Int message_end) {
        double *begin = message.get() + message_at[c], *end = message.get() + message_end;
        std::fill(begin, end, 0.0);
        add(c, 1.0, begin);
        double total = 0.0;
        for (const double *value = begin; value < end; ++value) total += *value;
        for (double *value = begin; value < end; ++value) {
            *value /= total;
            if (0 < *value && *value < TINY) return false;
        }
        scale[c] = total;
        return true;
    }
};

using Rows = In<Code, 2>;

// Raise an error unless rows have a code for every variable, below its number of states.
void require_rows(const SlicedTree &tree, const Rows &rows) {
    const Int n = tree.n_variables();
    if (static_cast<Int>(rows.shape(1)) != n)
        throw std::invalid_argument("rows have " + std::to_string(rows.shape(1)) + " columns, not " +
                                    std::to_string(n));
    const std::vector<Code> sizes(tree.sizes.begin(), tree.sizes.end());
    bool inside = true;
    for (Int row = 0; row < static_cast<Int>(rows.shape(0)); ++row) {
        const Code *codes = rows.data() + row * n;
        for (Int v = 0; v < n; ++v) inside &= codes[v] < sizes[v];
    }
    if (!inside) throw std::out_of_range("rows have codes that are no states of their variables");
}

void count_cells(const SlicedTree &tree, const Rows &rows, const OutFloats &cells, const OutFloats &messages) {
    const Int n = rows.shape(0);
    require_rows(tree, rows);
    require_length(cells, n, "cells");
    require_length(messages, n, "messages");
    for (Int row = 0; row < n; ++row) {
        const Code *codes = rows.data() + row * tree.n_variables();
        cells.data()[row] = count_row(tree, tree.scope, codes);
        messages.data()[row] = count_row(tree, tree.part, codes);
    }
}

// p(observed) by messages to the root, and the marginals of all factors by messages back. Twin: `enumerate_rows` in
// tests/native/test_evidence_rows.py.
void add_expected_counts(const SlicedTree &tree, const Rows &rows, const InFloats &weights, const InFloats &tables,
                         const OutFloats &log_p, const OutInts &status, const OutFloats &expected) {
    const Int n = rows.shape(0);
    require_rows(tree, rows);
    require_length(weights, n, "weights");
    require_length(tables, tree.start.back(), "tables");
    require_length(log_p, n, "log_p");
    require_length(status, n, "status");
    require_length(expected, tree.start.back(), "expected");
    double n_cells = 1.0, n_messages = 1.0;
    for (Int row = 0; row < n; ++row) {
        const Code *codes = rows.data() + row * tree.n_variables();
        n_cells = std::max(n_cells, count_row(tree, tree.scope, codes));
        n_messages = std::max(n_messages, count_row(tree, tree.part, codes));
    }
    if (n_cells > MOST_CELLS || n_messages > MOST_CELLS) throw std::bad_alloc();
    RowMessages messages(tree, tables.data(), static_cast<Int>(n_cells), static_cast<Int>(n_messages));
    for (Int row = 0; row < n; ++row) {
        const Code *codes = rows.data() + row * tree.n_variables();
        const auto [log_row, how] = messages.collect(codes);
        log_p.data()[row] = log_row;
        status.data()[row] = how;
        if (how == FINE) messages.distribute(codes, weights.data()[row], expected.data());
    }
}

}  // namespace suffice

namespace {

using namespace suffice;

Ints copied(const InInts &array) { return Ints(array.data(), array.data() + array.shape(0)); }

void bind_tree(nb::module_ &m) {
    nb::class_<SlicedTree>(m, "SlicedTree",
                           "A junction tree and its factors; cliques come before their parents, the root is last.\n\n"
                           "``x_at`` arrays have one place more than there are lists of x: list number i is "
                           "``x_at[i]`` to ``x_at[i + 1]``.")
        .def(
            "__init__",
            [](SlicedTree *self, const InInts &sizes, const InInts &scope_at, const InInts &scope,
               const InInts &part_at, const InInts &part, const InInts &parent, const InInts &child_at,
               const InInts &child, const InInts &factor_at, const InInts &factor, const InInts &member_at,
               const InInts &member, const InInts &stride, const InInts &start) {
                new (self) SlicedTree(SlicedTree::State{
                    copied(sizes), copied(scope_at), copied(scope), copied(part_at), copied(part), copied(parent),
                    copied(child_at), copied(child), copied(factor_at), copied(factor), copied(member_at),
                    copied(member), copied(stride), copied(start)});
            },
            nb::arg("sizes").noconvert(), nb::arg("scope_at").noconvert(), nb::arg("scope").noconvert(),
            nb::arg("part_at").noconvert(), nb::arg("part").noconvert(), nb::arg("parent").noconvert(),
            nb::arg("child_at").noconvert(), nb::arg("child").noconvert(), nb::arg("factor_at").noconvert(),
            nb::arg("factor").noconvert(), nb::arg("member_at").noconvert(), nb::arg("member").noconvert(),
            nb::arg("stride").noconvert(), nb::arg("start").noconvert(),
            "Check and copy the arrays of a tree.\n\n"
            "Parameters\n"
            "----------\n"
            "sizes : array, shape (n_variables,)\n"
            "    Number of states of every variable.\n"
            "scope_at, scope : arrays\n"
            "    The variables of every clique, in one common order.\n"
            "part_at, part : arrays\n"
            "    The variables of the separator above every clique; none for the root.\n"
            "parent : array, shape (n_cliques,)\n"
            "    The clique above every clique; -1 for the root.\n"
            "child_at, child : arrays\n"
            "    The children of every clique.\n"
            "factor_at, factor : arrays\n"
            "    The factors that every clique holds.\n"
            "member_at, member : arrays\n"
            "    The variables of every factor.\n"
            "stride : array\n"
            "    Their strides in the factor's table.\n"
            "start : array, shape (n_factors + 1,)\n"
            "    Where each factor's table begins, and where the last one ends.")
        .def("__getstate__", &SlicedTree::state)
        .def("__setstate__",
             [](SlicedTree &self, const SlicedTree::State &state) { new (&self) SlicedTree(state); });
}

}  // namespace

NB_MODULE(evidence_rows, m) {
    m.doc() = "Rows of evidence, each sent through one junction tree whose tables are sliced by what the row observed.";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    m.attr("FINE") = FINE;
    m.attr("IMPOSSIBLE") = IMPOSSIBLE;
    m.attr("LOST") = LOST;
    bind_tree(m);
    m.def("count_cells", &count_cells, nb::arg("tree"), nb::arg("rows").noconvert(), nb::arg("cells").noconvert(),
          nb::arg("messages").noconvert(), WithoutLock(),
          "Write the number of cells of all tables, and of all separators, that each row of codes leaves.\n\n"
          "Parameters\n"
          "----------\n"
          "tree : SlicedTree\n"
          "rows : array, shape (n_rows, n_variables)\n"
          "    Codes; negative where nothing was observed.\n"
          "cells, messages : arrays, shape (n_rows,)\n"
          "    Outputs.");
    m.def("add_expected_counts", &add_expected_counts, nb::arg("tree"), nb::arg("rows").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("tables").noconvert(), nb::arg("log_p").noconvert(),
          nb::arg("status").noconvert(), nb::arg("expected").noconvert(), WithoutLock(),
          "Write log p of every row, and add to the counts that the rows are expected to have in all tables.\n\n"
          "Parameters\n"
          "----------\n"
          "tree : SlicedTree\n"
          "rows : array, shape (n_rows, n_variables)\n"
          "    Codes; negative where nothing was observed.\n"
          "weights : array, shape (n_rows,)\n"
          "tables : array\n"
          "    The factors' tables one after another.\n"
          "log_p, status : arrays, shape (n_rows,)\n"
          "    Outputs; rows that are IMPOSSIBLE or LOST have -inf and add nothing to the counts.\n"
          "expected : array\n"
          "    The counts, in the layout of ``tables``; they are added to.");
}
