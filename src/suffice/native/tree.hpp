// Junction trees as the kernels see them: immutable, validated once, shared by their copies.
//
// All scopes list their variables in one common order, so that a separator is a subsequence of the scopes of its two
// cliques, and a factor's scope one of its clique's. Cliques come before their parents; the root is last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "loops.hpp"

namespace suffice {

using Ints = std::vector<Int>;
using Scopes = std::vector<Ints>;

// What a tree is made from; the same that is pickled.
struct TreeParts {
    Ints sizes;            // number of states of every variable
    Scopes cliques;        // variables of every clique
    Scopes separators;     // variables shared with the parent; none for the root
    Ints parent;           // −1 for the root
    Scopes factor_scopes;  // variables of every factor that are not observed
    Ints homes;            // the clique that each factor is multiplied into
};

// A junction tree in flat arrays.
//
// The entries of `x` that belong to number i are x[x_at[i]] to x[x_at[i + 1]]. There are 2 n_cliques + n_factors nests of
// loops: of every separator in its clique (c), in the parent of that (n_cliques + c; none for the root), and of every
// factor in its clique (2 n_cliques + f). Copies share their arrays, so that a tree can be kept by value, without Python.
struct Tree {
    Int n_variables, n_cliques, n_factors;
    Int n_cells, n_message_cells;        // of all cliques' tables, and of all separators'
    Int largest_table, largest_message;  // cells of the largest clique, and of the largest separator (at least one)
    const Int *sizes;
    const Int *scope_at, *scope;   // the variables of every clique
    const Int *part_at, *part;     // the variables of the separator above every clique
    const Int *table_at;           // the cells of every clique's table
    const Int *message_at;         // the cells of every separator's table
    const Int *parent;             // −1 for the root
    const Int *child_at, *child;   // the children of every clique
    const Int *factor_at, *factor; // the factors of every clique
    const Int *loop_at;
    const Loop *loops;             // innermost first
    const Int *home;               // the clique of every factor
    const Int *factor_cells;       // the cells of every factor without its observed variables

    explicit Tree(TreeParts parts);

    const TreeParts &parts() const { return arrays->parts; }
    Int table_cells(Int clique) const { return table_at[clique + 1] - table_at[clique]; }
    Int message_cells(Int clique) const { return message_at[clique + 1] - message_at[clique]; }
    const Loop *loops_of(Int pair) const { return loops + loop_at[pair]; }
    Int n_loops(Int pair) const { return loop_at[pair + 1] - loop_at[pair]; }
    Int n_pairs() const { return 2 * n_cliques + n_factors; }
    std::size_t nbytes() const { return arrays->nbytes(); }

    // The loops of a factor in its clique have this number.
    Int factor_pair(Int f) const { return 2 * n_cliques + f; }

   private:
    struct Arrays {
        TreeParts parts;
        Ints scope_at, scope, part_at, part, table_at, message_at, child_at, child, factor_at, factor, loop_at;
        Ints factor_cells;
        std::vector<Loop> loops;

        std::size_t nbytes() const;
    };
    std::shared_ptr<const Arrays> arrays;

    static std::shared_ptr<const Arrays> laid_out(TreeParts parts);
};

// Several trees, for rows of data whose missing values differ.
struct Forest {
    std::vector<Tree> trees;

    // The largest of some number over all trees, at least `least`.
    template <typename Number>
    Int largest(Number number, Int least = 0) const {
        for (const Tree &tree : trees) least = std::max(least, static_cast<Int>(number(tree)));
        return least;
    }
};

namespace tree_parts {

constexpr Int MOST_CELLS = Int{1} << 56;

// Number of cells of a table over a scope.
inline Int cells_of(const Ints &scope, const Ints &sizes) {
    Int cells = 1;
    for (Int variable : scope) {
        if (cells > MOST_CELLS / sizes[variable]) throw std::invalid_argument("a table has more than 2**56 cells");
        cells *= sizes[variable];
    }
    return cells;
}

inline bool is_subsequence(const Int *part, Int n_part, const Int *whole, Int n_whole) {
    Int found = 0;
    for (Int i = 0; i < n_whole && found < n_part; ++i) found += whole[i] == part[found];
    return found == n_part;
}

inline void require_part(const Ints &part, const Ints &whole, const char *name) {
    if (!is_subsequence(part.data(), static_cast<Int>(part.size()), whole.data(), static_cast<Int>(whole.size())))
        throw std::invalid_argument(std::string(name) + " must be a subsequence of its clique");
}

inline void validate(const TreeParts &parts) {
    const Int n = static_cast<Int>(parts.cliques.size()), n_variables = static_cast<Int>(parts.sizes.size());
    require(n > 0, "a junction tree has at least one clique");
    require(parts.separators.size() == parts.cliques.size(), "there must be one separator per clique");
    require(parts.parent.size() == parts.cliques.size(), "there must be one parent per clique");
    require(parts.homes.size() == parts.factor_scopes.size(), "there must be one clique per factor");
    require_range(parts.sizes.data(), n_variables, 1, MOST_CELLS, "sizes");
    require_range(parts.homes.data(), static_cast<Int>(parts.homes.size()), 0, n, "homes");
    require(parts.parent[n - 1] == -1, "the root is the last clique, and has the parent -1");
    require(parts.separators[n - 1].empty(), "the root has no separator");
    Ints last_seen(n_variables, -1);
    for (Int c = 0; c < n; ++c) {
        const Ints &scope = parts.cliques[c];
        require_range(scope.data(), static_cast<Int>(scope.size()), 0, n_variables, "cliques");
        for (Int variable : scope) {
            require(last_seen[variable] != c, "a clique has a variable twice");
            last_seen[variable] = c;
        }
    }
    for (Int c = 0; c < n - 1; ++c) {
        if (parts.parent[c] <= c || parts.parent[c] >= n)
            throw std::out_of_range("every clique but the root must come before its parent");
        require_part(parts.separators[c], parts.cliques[c], "a separator");
        require_part(parts.separators[c], parts.cliques[parts.parent[c]], "a separator");
    }
    for (std::size_t f = 0; f < parts.homes.size(); ++f)
        require_part(parts.factor_scopes[f], parts.cliques[parts.homes[f]], "a factor's scope");
}

// Write lists one after another, and where each begins.
inline void flatten(const Scopes &lists, Ints &at, Ints &entries) {
    at.assign(1, 0);
    entries.clear();
    for (const Ints &list : lists) {
        entries.insert(entries.end(), list.begin(), list.end());
        at.push_back(static_cast<Int>(entries.size()));
    }
}

// Write the numbers that every owner has, in rising order; owners below zero are none.
inline void group_by_owner(const Ints &owners, Int n, Ints &at, Ints &entries) {
    Scopes lists(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < owners.size(); ++i)
        if (owners[i] >= 0) lists[owners[i]].push_back(static_cast<Int>(i));
    flatten(lists, at, entries);
}

inline Ints offsets_of_tables(const Scopes &scopes, const Ints &sizes) {
    Ints at{0};
    for (const Ints &scope : scopes) {
        at.push_back(at.back() + cells_of(scope, sizes));
        require(at.back() <= MOST_CELLS, "the tables have more than 2**56 cells");
    }
    return at;
}

}  // namespace tree_parts

inline std::size_t Tree::Arrays::nbytes() const {
    std::size_t entries = 3 * loops.size();
    for (const Ints *array : {&parts.sizes, &parts.parent, &parts.homes, &scope_at, &scope, &part_at, &part, &table_at,
                              &message_at, &child_at, &child, &factor_at, &factor, &loop_at, &factor_cells})
        entries += array->size();
    return entries * sizeof(Int);
}

inline std::shared_ptr<const Tree::Arrays> Tree::laid_out(TreeParts parts) {
    tree_parts::validate(parts);
    auto made = std::make_shared<Arrays>();
    const Int n = static_cast<Int>(parts.cliques.size());
    tree_parts::flatten(parts.cliques, made->scope_at, made->scope);
    tree_parts::flatten(parts.separators, made->part_at, made->part);
    tree_parts::group_by_owner(parts.parent, n, made->child_at, made->child);
    tree_parts::group_by_owner(parts.homes, n, made->factor_at, made->factor);
    made->table_at = tree_parts::offsets_of_tables(parts.cliques, parts.sizes);
    made->message_at = tree_parts::offsets_of_tables(parts.separators, parts.sizes);
    for (const Ints &scope : parts.factor_scopes) made->factor_cells.push_back(tree_parts::cells_of(scope, parts.sizes));

    const Ints free(parts.sizes.size(), -1);
    made->loop_at.push_back(0);
    const auto add_loops = [&](const Ints &part, Int owner) {
        Loop found[MAX_LOOPS];  // a table of at most 2**56 cells has fewer
        Int end = 0;
        if (owner >= 0) {
            const Ints &scope = parts.cliques[owner];
            end = find_loops(scope.data(), 0, static_cast<Int>(scope.size()), part.data(), 0,
                             static_cast<Int>(part.size()), parts.sizes.data(), free.data(), false, found, 0)
                      .end;
        }
        made->loops.insert(made->loops.end(), found, found + end);
        made->loop_at.push_back(static_cast<Int>(made->loops.size()));
    };
    for (Int c = 0; c < n; ++c) add_loops(parts.separators[c], c);
    for (Int c = 0; c < n; ++c) add_loops(parts.separators[c], parts.parent[c]);
    for (std::size_t f = 0; f < parts.homes.size(); ++f) add_loops(parts.factor_scopes[f], parts.homes[f]);
    made->parts = std::move(parts);
    return made;
}

inline Tree::Tree(TreeParts given) : arrays(laid_out(std::move(given))) {
    const Arrays &held = *arrays;
    n_variables = static_cast<Int>(held.parts.sizes.size());
    n_cliques = static_cast<Int>(held.parts.cliques.size());
    n_factors = static_cast<Int>(held.parts.homes.size());
    sizes = held.parts.sizes.data();
    scope_at = held.scope_at.data(), scope = held.scope.data();
    part_at = held.part_at.data(), part = held.part.data();
    table_at = held.table_at.data(), message_at = held.message_at.data();
    parent = held.parts.parent.data();
    child_at = held.child_at.data(), child = held.child.data();
    factor_at = held.factor_at.data(), factor = held.factor.data();
    loop_at = held.loop_at.data(), loops = held.loops.data();
    home = held.parts.homes.data(), factor_cells = held.factor_cells.data();
    n_cells = table_at[n_cliques], n_message_cells = message_at[n_cliques];
    largest_table = largest_message = 1;
    for (Int c = 0; c < n_cliques; ++c) {
        largest_table = std::max(largest_table, table_cells(c));
        largest_message = std::max(largest_message, message_cells(c));
    }
}

// Raise unless the slice of every factor lies inside the buffer of values.
inline void require_starts(const Tree &tree, const Int *starts, Int n_values) {
    bool inside = true;
    for (Int f = 0; f < tree.n_factors; ++f)
        inside &= starts[f] >= 0 && starts[f] <= n_values - tree.factor_cells[f];
    if (!inside) throw std::out_of_range("starts has a factor that does not lie inside of the values");
}

}  // namespace suffice
