// Rows with missing values: connected components of the missing variables, equal lists, and sums over missing states.
//
// Lists of numbers stand one after another in one array; `at` holds where each begins, and where the last ends. A kind
// is a set of variables that are missing together; a situation is a kind with the states of the observed variables
// around it.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "lists.hpp"

namespace suffice {

using Int = std::int64_t;
using Ints = std::vector<Int>;

constexpr double INF = std::numeric_limits<double>::infinity();

// Connected components -------------------------------------------------------------------------------------------------

struct Components {
    Ints row_of, at, members;
};

// The connected components of the variables that are missing in each row, where `near` are the neighbours of each
// variable. Twin: `components_by_sets` in tests/native/test_missing_values.py.
Components find_components(const std::int32_t *codes, Int n_rows, Int n_variables, const Lists &near) {
    Int n_missing = 0;
    for (Int i = 0; i < n_rows * n_variables; ++i) n_missing += codes[i] < 0;
    Components found{Ints(n_missing), Ints(n_missing + 1), Ints(n_missing)};
    Int *members = found.members.data(), n = 0, end = 0;
    std::vector<char> is_open(n_variables, 0);  // missing, and in no component yet
    for (Int row = 0; row < n_rows; ++row) {
        const std::int32_t *own = codes + row * n_variables;
        for (Int v = 0; v < n_variables; ++v) is_open[v] = own[v] < 0;
        for (Int first = 0; first < n_variables; ++first) {
            if (!is_open[first]) continue;
            const Int start = end;
            is_open[first] = 0;
            members[end++] = first;
            for (Int place = start; place < end; ++place) {  // members are the queue of a breadth-first search
                for (Int k = near.begin(members[place]); k < near.end(members[place]); ++k) {
                    const Int other = near.values[k];
                    if (!is_open[other]) continue;
                    is_open[other] = 0;
                    members[end++] = other;
                }
            }
            std::sort(members + start, members + end);
            found.row_of[n++] = row;
            found.at[n] = end;
        }
    }
    found.row_of.resize(n);
    found.at.resize(n + 1);
    return found;
}

// Equal lists ----------------------------------------------------------------------------------------------------------

struct Numbered {
    Ints number, first;
};

inline std::uint64_t hash_of(Int tag, const Int *values, Int n) {
    std::uint64_t mixed = static_cast<std::uint64_t>(tag) + 1;
    for (Int i = 0; i < n; ++i) mixed = (mixed ^ (static_cast<std::uint64_t>(values[i]) + 1)) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 32)) * 0xBF58476D1CE4E5B9u;
    return mixed ^ (mixed >> 29);
}

inline bool is_equal(const Int *some, const Int *others, Int n) {
    for (Int i = 0; i < n; ++i)
        if (some[i] != others[i]) return false;
    return true;
}

// A hash table with open addressing, from hashes to numbers; it stays small while few numbers are given.
class HashTable {
  public:
    // Return the number whose list has this hash and is the same; give the next number where there is none.
    template <typename IsSame>
    Int number_of(std::uint64_t hash, IsSame is_same) {
        for (std::size_t place = first_place(hash);; place = next_place(place)) {
            Slot &slot = slots[place];
            if (slot.number < 0) {
                slot = {hash, n};
                if (2 * static_cast<std::size_t>(++n) > slots.size()) grow();
                return n - 1;
            }
            if (slot.hash == hash && is_same(slot.number)) return slot.number;
        }
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        Int number = -1;
    };

    std::size_t first_place(std::uint64_t hash) const { return hash & (slots.size() - 1); }
    std::size_t next_place(std::size_t place) const { return (place + 1) & (slots.size() - 1); }

    void grow() {
        const std::vector<Slot> before = std::exchange(slots, std::vector<Slot>(4 * slots.size()));
        for (const Slot &slot : before) {
            if (slot.number < 0) continue;
            std::size_t place = first_place(slot.hash);
            while (slots[place].number >= 0) place = next_place(place);
            slots[place] = slot;
        }
    }

    std::vector<Slot> slots = std::vector<Slot>(256);
    Int n = 0;
};

// Number equal lists with equal tags alike, in the order of their first occurrence. Twin: `numbers_by_dictionary` in
// tests/native/test_missing_values.py.
Numbered number_lists(const Int *tags, const Lists &lists) {
    HashTable table;
    Numbered found{Ints(lists.n), Ints()};
    for (Int i = 0; i < lists.n; ++i) {
        const Int *own = lists.values + lists.begin(i), size = lists.size(i);
        found.number[i] = table.number_of(hash_of(tags[i], own, size), [&](Int number) {
            const Int other = found.first[number];
            return tags[other] == tags[i] && lists.size(other) == size &&
                   is_equal(own, lists.values + lists.begin(other), size);
        });
        if (found.number[i] == static_cast<Int>(found.first.size())) found.first.push_back(i);
    }
    return found;
}

// Surroundings ---------------------------------------------------------------------------------------------------------

struct Surroundings {
    Ints touched_at, touched, edge_at, edge;
};

// For sets of variables: the scopes that hold one of them, and the other variables of these scopes, both in ascending
// order. Twin: `surroundings` in tests/native/fuzz/missing_values.py.
Surroundings find_surroundings(const Lists &sets, const Lists &scopes_of, const Lists &scopes) {
    Surroundings found;
    Ints &touched = found.touched, &edge = found.edge;
    found.touched_at.reserve(sets.n + 1);
    found.edge_at.reserve(sets.n + 1);
    found.touched_at.push_back(0);
    found.edge_at.push_back(0);
    std::vector<char> has_scope(scopes.n, 0), has_variable(scopes_of.n, 0);
    for (Int i = 0; i < sets.n; ++i) {
        const Int n_touched = touched.size(), n_edge = edge.size();
        for (Int k = sets.begin(i); k < sets.end(i); ++k) has_variable[sets.values[k]] = 1;
        for (Int k = sets.begin(i); k < sets.end(i); ++k) {
            for (Int j = scopes_of.begin(sets.values[k]); j < scopes_of.end(sets.values[k]); ++j) {
                const Int scope = scopes_of.values[j];
                if (has_scope[scope]) continue;
                has_scope[scope] = 1;
                touched.push_back(scope);
                for (Int m = scopes.begin(scope); m < scopes.end(scope); ++m) {
                    if (has_variable[scopes.values[m]]) continue;
                    has_variable[scopes.values[m]] = 1;
                    edge.push_back(scopes.values[m]);
                }
            }
        }
        for (Int k = sets.begin(i); k < sets.end(i); ++k) has_variable[sets.values[k]] = 0;
        for (auto v = edge.begin() + n_edge; v != edge.end(); ++v) has_variable[*v] = 0;
        for (auto f = touched.begin() + n_touched; f != touched.end(); ++f) has_scope[*f] = 0;
        std::sort(touched.begin() + n_touched, touched.end());
        std::sort(edge.begin() + n_edge, edge.end());
        found.touched_at.push_back(touched.size());
        found.edge_at.push_back(edge.size());
    }
    return found;
}

// Sums over missing states ---------------------------------------------------------------------------------------------

// The tables: their variables, the strides of these, and where each table begins in the array of all cells.
struct Tables {
    Ints sizes, scope_at, scope, strides, starts;

    Tables(const InInts &sizes_, const Lists &scopes)
        : sizes(sizes_.data(), sizes_.data() + sizes_.size()), scope_at(scopes.at, scopes.at + scopes.n + 1),
          scope(scopes.values, scopes.values + scope_at.back()), strides(scope.size()), starts{0} {
        constexpr Int MAX_CELLS = Int{1} << 50;
        for (Int f = 0; f < scopes.n; ++f) {
            Int step = 1;
            for (Int k = scope_at[f + 1] - 1; k >= scope_at[f]; --k) {
                strides[k] = step;
                require(step <= MAX_CELLS / sizes[scope[k]], "a table has too many cells");
                step *= sizes[scope[k]];
            }
            require(starts.back() <= MAX_CELLS - step, "the tables have too many cells");
            starts.push_back(starts.back() + step);
        }
    }

    // The stride of a variable in a table, zero if the table is not over it.
    Int stride(Int f, Int variable) const {
        for (Int k = scope_at[f]; k < scope_at[f + 1]; ++k)
            if (scope[k] == variable) return strides[k];
        return 0;
    }
};

// Sums of products of tables over all states of the missing variables, for many situations.
//
// The states of a kind's missing variables are the leaves of a tree with one level per variable. A table enters at the
// first level at which all its missing variables have a state; a situation's tables begin at its observed states
// (`base`), and a node adds its `offset`. Products run down the tree, totals come back up, so that every table receives
// the posterior of its cells. Twin: `sums_by_enumeration` in tests/native/test_missing_values.py.
class Enumeration {
  public:
    Enumeration(const InInts &sizes, const InInts &scope_at, const InInts &scope, const InInts &member_at,
                const InInts &member, const InInts &touched_at, const InInts &touched, const InInts &edge_at,
                const InInts &edge, const InInts &kind, const InInts &code_at, const InInts &codes);

    // Add weight × posterior of every cell to `expected`, and write log Σ Π, for the situations from lo to hi.
    void sum(const InFloats &tables, const InFloats &log_tables, const InFloats &weights, Int lo, Int hi,
             const OutFloats &expected, const OutFloats &log_sums) const;

  private:
    struct Leaves {
        Int at, n;
    };

    void lay_levels(const Tables &tables, const Lists &members, const Lists &touched);
    void lay_offsets(const Tables &tables, const Int *members, Int n_levels, Int f);
    void lay_bases(const Tables &tables, const Lists &touched, const Lists &edges, const Lists &codes);
    template <bool logs>
    Leaves grow(const double *tables, Int first, Int last, const Int *base, double *nodes) const;
    void spread(double by, Int first, Int last, const Int *base, Leaves leaves, double *nodes, double *expected) const;

    Int n_cells_, room_ = 0;         // room: nodes of the largest tree
    Ints kind_, base_at_, base_;     // of every situation; where its tables begin
    Ints level_at_, size_;           // the levels of every kind; the number of states of each level's variable
    Ints part_at_, part_;            // the tables that enter at every level, as places among those of the kind
    Ints offset_at_, offset_;        // of these: what each node of the level adds to the beginning of the table
};

// A kind's members, and the observed variables around them, all differ: a cell is then found by adding up strides.
void require_distinct(const Lists &members, const Lists &edges, Int n_variables) {
    Ints last(n_variables, -1);
    for (Int t = 0; t < members.n; ++t) {
        for (const Lists *lists : {&members, &edges}) {
            for (Int k = lists->begin(t); k < lists->end(t); ++k) {
                require(last[lists->values[k]] != t, "a kind lists a variable twice");
                last[lists->values[k]] = t;
            }
        }
    }
}

Enumeration::Enumeration(const InInts &sizes, const InInts &scope_at, const InInts &scope, const InInts &member_at,
                         const InInts &member, const InInts &touched_at, const InInts &touched, const InInts &edge_at,
                         const InInts &edge, const InInts &kind, const InInts &code_at, const InInts &codes) {
    const Int n_variables = sizes.size(), n = kind.size();
    require_range(sizes.data(), n_variables, 1, std::numeric_limits<Int>::max(), "sizes");
    const Lists scopes = lists_of_indices(scope_at, scope, n_variables, "scope_at", "scope");
    const Lists members = lists_of_indices(member_at, member, n_variables, "member_at", "member");
    const Lists touches = lists_of_indices(touched_at, touched, scopes.n, "touched_at", "touched");
    const Lists edges = lists_of_indices(edge_at, edge, n_variables, "edge_at", "edge");
    const Lists seen = lists_of(code_at, codes, "code_at");
    require(touches.n == members.n && edges.n == members.n, "member_at, touched_at and edge_at differ in length");
    require_length(code_at, n + 1, "code_at");
    require_range(kind.data(), n, 0, members.n, "kind");
    require_distinct(members, edges, n_variables);
    for (Int t = 0; t < members.n; ++t) require(members.size(t) > 0, "a kind has no missing variable");
    for (Int i = 0; i < n; ++i) {
        const Int t = kind.data()[i];
        require(seen.size(i) == edges.size(t), "a situation has not one code for each observed variable");
        for (Int j = 0; j < seen.size(i); ++j)
            require_range(seen.values + seen.begin(i) + j, 1, 0, sizes.data()[edges.values[edges.begin(t) + j]], "codes");
    }
    kind_.assign(kind.data(), kind.data() + n);
    const Tables tables(sizes, scopes);
    n_cells_ = tables.starts.back();
    lay_levels(tables, members, touches);
    lay_bases(tables, touches, edges, seen);
}

// Lay out the trees of all kinds.
void Enumeration::lay_levels(const Tables &tables, const Lists &members, const Lists &touched) {
    constexpr Int MAX_LEAVES = Int{1} << 24;
    level_at_.assign(members.at, members.at + members.n + 1);
    size_.resize(level_at_.back());
    part_at_.assign(level_at_.back() + 1, 0);
    offset_at_.push_back(0);
    for (Int t = 0; t < members.n; ++t) {
        const Int first = members.begin(t), last = members.end(t);
        Int n_leaves = 1, n_nodes = 0;
        for (Int level = first; level < last; ++level) {
            size_[level] = tables.sizes[members.values[level]];
            require(n_leaves <= MAX_LEAVES / size_[level], "a kind has too many missing states to enumerate");
            n_leaves *= size_[level];
            n_nodes += n_leaves;
            for (Int k = touched.begin(t); k < touched.end(t); ++k) {
                const Int f = touched.values[k];
                if (tables.stride(f, members.values[level]) == 0) continue;
                const auto enters_later = [&](Int member) { return tables.stride(f, member) > 0; };
                if (std::any_of(members.values + level + 1, members.values + last, enters_later)) continue;
                part_.push_back(k - touched.begin(t));
                lay_offsets(tables, members.values + first, level + 1 - first, f);
            }
            part_at_[level + 1] = part_.size();
        }
        room_ = std::max(room_, n_nodes);
    }
}

// Append what the nodes of a level, the last of some, add to the beginning of a table; the last variable varies fastest.
void Enumeration::lay_offsets(const Tables &tables, const Int *members, Int n_levels, Int f) {
    const Int begin = offset_.size();
    offset_.push_back(0);
    for (Int level = n_levels - 1; level >= 0; --level) {
        const Int n = offset_.size() - begin, many = tables.sizes[members[level]];
        const Int stride = tables.stride(f, members[level]);
        offset_.resize(begin + n * many);
        Int *offset = offset_.data() + begin;
        for (Int j = 1; j < many; ++j)
            for (Int i = 0; i < n; ++i) offset[j * n + i] = offset[i] + j * stride;
    }
    offset_at_.push_back(offset_.size());
}

// Lay out where the tables of every situation begin: their slices at its observed states.
void Enumeration::lay_bases(const Tables &tables, const Lists &touched, const Lists &edges, const Lists &codes) {
    Ints slope_at{0}, slopes;  // for each kind a matrix (touched tables × observed variables) of strides
    for (Int t = 0; t < touched.n; ++t) {
        for (Int k = touched.begin(t); k < touched.end(t); ++k)
            for (Int j = edges.begin(t); j < edges.end(t); ++j)
                slopes.push_back(tables.stride(touched.values[k], edges.values[j]));
        slope_at.push_back(slopes.size());
    }
    base_at_.push_back(0);
    for (const Int t : kind_) base_at_.push_back(base_at_.back() + touched.size(t));
    base_.resize(base_at_.back());
    for (std::size_t i = 0; i < kind_.size(); ++i) {
        const Int t = kind_[i], n_edge = edges.size(t);
        const Int *own = codes.values + codes.begin(i), *slope = slopes.data() + slope_at[t];
        for (Int k = 0; k < touched.size(t); ++k, slope += n_edge) {
            Int at = tables.starts[touched.values[touched.begin(t) + k]];
            for (Int j = 0; j < n_edge; ++j) at += slope[j] * own[j];
            base_[base_at_[i] + k] = at;
        }
    }
}

// Form the products, or the sums of logarithms, along all paths of a tree, level by level; return where the leaves are.
template <bool logs>
Enumeration::Leaves Enumeration::grow(const double *tables, Int first, Int last, const Int *base,
                                      double *nodes) const {
    const double start = logs ? 0.0 : 1.0, *above = &start;
    Int n = 1;
    double *here = nodes;
    for (Int level = first; level < last; ++level) {
        const Int many = size_[level];
        for (Int i = 0; i < n; ++i)
            for (Int j = 0; j < many; ++j) here[i * many + j] = above[i];
        n *= many;
        for (Int k = part_at_[level]; k < part_at_[level + 1]; ++k) {
            const double *table = tables + base[part_[k]];
            const Int *offset = offset_.data() + offset_at_[k];
            for (Int i = 0; i < n; ++i) {
                if constexpr (logs)
                    here[i] += table[offset[i]];
                else
                    here[i] *= table[offset[i]];
            }
        }
        above = here;
        here += n;
    }
    return {above - nodes, n};
}

// Add the totals of all nodes, times `by`, to the cells of the tables that enter there, from the leaves up.
void Enumeration::spread(double by, Int first, Int last, const Int *base, Leaves leaves, double *nodes,
                         double *expected) const {
    double *here = nodes + leaves.at;
    Int n = leaves.n;
    for (Int i = 0; i < n; ++i) here[i] *= by;
    for (Int level = last - 1; level >= first; --level) {
        for (Int k = part_at_[level]; k < part_at_[level + 1]; ++k) {
            double *table = expected + base[part_[k]];
            const Int *offset = offset_.data() + offset_at_[k];
            for (Int i = 0; i < n; ++i) table[offset[i]] += here[i];
        }
        if (level == first) break;
        const Int many = size_[level], n_above = n / many;
        double *above = here - n_above;
        for (Int i = 0; i < n_above; ++i) {
            double total = 0.0;
            for (Int j = 0; j < many; ++j) total += here[i * many + j];
            above[i] = total;
        }
        here = above;
        n = n_above;
    }
}

struct Scaled {
    double total, log_scale;
};

// Turn logarithms into numbers, the greatest of which is one; return their sum and the logarithm that was taken off.
Scaled from_logs(double *values, Int n) {
    double top = -INF, total = 0.0;
    for (Int i = 0; i < n; ++i) top = std::max(top, values[i]);
    if (top > -INF) {
        for (Int i = 0; i < n; ++i) {
            values[i] = std::exp(values[i] - top);
            total += values[i];
        }
    }
    return {total, top};
}

void Enumeration::sum(const InFloats &tables, const InFloats &log_tables, const InFloats &weights, Int lo, Int hi,
                      const OutFloats &expected, const OutFloats &log_sums) const {
    constexpr double LOW = 1e-200, HIGH = 1e200;  // sums outside are formed again, in logarithms
    const Int n = kind_.size();
    require_length(tables, n_cells_, "tables");
    require_length(log_tables, n_cells_, "log_tables");
    require_length(weights, n, "weights");
    require_length(expected, n_cells_, "expected");
    require_length(log_sums, n, "log_sums");
    require(0 <= lo && lo <= hi && hi <= n, "the range from lo to hi is not one of situations");
    std::vector<double> nodes(room_);
    for (Int s = lo; s < hi; ++s) {
        const Int first = level_at_[kind_[s]], last = level_at_[kind_[s] + 1];
        const Int *base = base_.data() + base_at_[s];
        Leaves leaves = grow<false>(tables.data(), first, last, base, nodes.data());
        Scaled found{0.0, 0.0};
        for (Int i = leaves.at; i < leaves.at + leaves.n; ++i) found.total += nodes[i];
        if (!(LOW < found.total && found.total < HIGH)) {
            leaves = grow<true>(log_tables.data(), first, last, base, nodes.data());
            found = from_logs(nodes.data() + leaves.at, leaves.n);
        }
        if (!(found.total > 0)) {
            log_sums.data()[s] = -INF;
            continue;
        }
        log_sums.data()[s] = std::log(found.total) + found.log_scale;  // eq gap-sum
        const double by = weights.data()[s] / found.total;             // eq gap-posterior
        spread(by, first, last, base, leaves, nodes.data(), expected.data());
    }
}

}  // namespace suffice

namespace {

using namespace suffice;
using Found = Made<Int>;

std::tuple<Found, Found, Found> bound_components(const In<std::int32_t, 2> &codes, const InInts &near_at,
                                                 const InInts &near) {
    Components found;
    {
        nb::gil_scoped_release unlocked;
        const Int n_variables = codes.shape(1);
        require_length(near_at, n_variables + 1, "near_at");
        const Lists lists = lists_of_indices(near_at, near, n_variables, "near_at", "near");
        found = find_components(codes.data(), codes.shape(0), n_variables, lists);
    }
    return {to_array(std::move(found.row_of)), to_array(std::move(found.at)), to_array(std::move(found.members))};
}

std::tuple<Found, Found> bound_numbers(const InInts &tags, const InInts &at, const InInts &values) {
    Numbered found;
    {
        nb::gil_scoped_release unlocked;
        require_length(at, tags.shape(0) + 1, "at");
        found = number_lists(tags.data(), lists_of(at, values, "at"));
    }
    return {to_array(std::move(found.number)), to_array(std::move(found.first))};
}

std::tuple<Found, Found, Found, Found> bound_surroundings(const InInts &set_at, const InInts &sets,
                                                          const InInts &scopes_of_at, const InInts &scopes_of,
                                                          const InInts &scope_at, const InInts &scope) {
    Surroundings found;
    {
        nb::gil_scoped_release unlocked;
        const Int n_scopes = static_cast<Int>(scope_at.size()) - 1, n = static_cast<Int>(scopes_of_at.size()) - 1;
        const Lists scopes = lists_of_indices(scope_at, scope, n, "scope_at", "scope");
        const Lists holding = lists_of_indices(scopes_of_at, scopes_of, n_scopes, "scopes_of_at", "scopes_of");
        found = find_surroundings(lists_of_indices(set_at, sets, n, "set_at", "sets"), holding, scopes);
    }
    return {to_array(std::move(found.touched_at)), to_array(std::move(found.touched)),
            to_array(std::move(found.edge_at)), to_array(std::move(found.edge))};
}

}  // namespace

NB_MODULE(missing_values, m) {
    m.doc() = "Rows with missing values: connected components, equal lists, and sums over missing states.";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    m.def("find_components", &bound_components, nb::arg("codes").noconvert(), nb::arg("near_at").noconvert(),
          nb::arg("near").noconvert(), R"(Return the connected components of the variables that are missing in each row.

Parameters
----------
codes : array, shape (n_rows, n_variables)
    Negative where a value is missing.
near_at, near : arrays, shapes (n_variables + 1,) and (…,)
    The neighbours of each variable, one list after another.

Returns
-------
row_of : array, shape (n_components,)
at, members : arrays, shapes (n_components + 1,) and (…,)
    The variables of each component, in ascending order.)");
    m.def("number_lists", &bound_numbers, nb::arg("tags").noconvert(), nb::arg("at").noconvert(),
          nb::arg("values").noconvert(), R"(Number lists such that equal ones share a number.

Parameters
----------
tags : array, shape (n,)
    Lists are equal only if their tags are.
at, values : arrays, shapes (n + 1,) and (…,)
    The lists, one after another.

Returns
-------
number : array, shape (n,)
    In the order in which different lists first occur.
first : array, shape (n_distinct,)
    The first list of each number.)");
    m.def("find_surroundings", &bound_surroundings, nb::arg("set_at").noconvert(), nb::arg("sets").noconvert(),
          nb::arg("scopes_of_at").noconvert(), nb::arg("scopes_of").noconvert(), nb::arg("scope_at").noconvert(),
          nb::arg("scope").noconvert(),
          R"(Return which scopes sets of variables touch, and which other variables these hold.

Parameters
----------
set_at, sets : arrays, shapes (n_sets + 1,) and (…,)
    The sets of variables, one after another.
scopes_of_at, scopes_of : arrays, shapes (n_variables + 1,) and (…,)
    The scopes of each variable.
scope_at, scope : arrays, shapes (n_scopes + 1,) and (…,)
    The variables of each scope.

Returns
-------
touched_at, touched, edge_at, edge : arrays
    Scopes and other variables of each set, in ascending order.)");
    nb::class_<Enumeration>(m, "Enumeration", R"(Sums over missing states, all of which are enumerated; immutable.

Parameters
----------
sizes : array, shape (n_variables,)
    Number of states of every variable.
scope_at, scope : arrays
    The variables of every table, in the order of its axes.
member_at, member : arrays
    The missing variables of every kind; in this order they become the levels of a tree.
touched_at, touched : arrays
    The tables that hold a missing variable, for every kind.
edge_at, edge : arrays
    The observed variables of these tables, for every kind.
kind : array, shape (n_situations,)
code_at, codes : arrays
    The states of the observed variables, for every situation.)")
        .def(nb::init<const InInts &, const InInts &, const InInts &, const InInts &, const InInts &, const InInts &,
                      const InInts &, const InInts &, const InInts &, const InInts &, const InInts &, const InInts &>(),
             nb::arg("sizes").noconvert(), nb::arg("scope_at").noconvert(), nb::arg("scope").noconvert(),
             nb::arg("member_at").noconvert(), nb::arg("member").noconvert(), nb::arg("touched_at").noconvert(),
             nb::arg("touched").noconvert(), nb::arg("edge_at").noconvert(), nb::arg("edge").noconvert(),
             nb::arg("kind").noconvert(), nb::arg("code_at").noconvert(), nb::arg("codes").noconvert(), WithoutLock())
        .def("sum", &Enumeration::sum, nb::arg("tables").noconvert(), nb::arg("log_tables").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("lo"), nb::arg("hi"), nb::arg("expected").noconvert(),
             nb::arg("log_sums").noconvert(), WithoutLock(), R"(Sum the products of tables for a range of situations.

Parameters
----------
tables, log_tables : arrays, shape (n_cells,)
    The cells of all tables, one table after another, and their logarithms.
weights : array, shape (n_situations,)
lo, hi : int
    The range of situations.
expected : array, shape (n_cells,)
    Weight × posterior of every cell is added to it.
log_sums : array, shape (n_situations,)
    Receives log Σ Π of the situations in the range; −inf where the sum is zero.)");
}
