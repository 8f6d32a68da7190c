// The pseudo-likelihood: every variable of every row given all others.
//
// Everything is relative to what was observed. The *turn* r of a variable is the state r places after the observed one,
// round the circle: turn 0 is the observed state itself. Its logit is
//
//     l_vr = Σ_{S∋v} θ_S(x with x_v turned by r) − θ_S(x),
//
// so that l_v0 = 0 and log p(x_v | x_−v) = −log Σ_r exp(l_vr).
//
// Rows go through in tiles, scope by scope, so that the inner loops run along the rows of a tile.
//
//     x       a row of codes; the codes of a tile lie variable by variable
//     θ       the tables of all scopes, flat
//     p_vr    the conditional probability of a turn, given the rest of the row
//     f_vr    the features (rows of the design D) of all scopes that hold the variable, summed, at a turn
//     line    where the turns of each variable begin among the lines of a tile's array, shape (Σ sizes, tile rows)
//
// All sums are added to what `out` holds. The slow twin of all kernels is `Case` in
// tests/inference/test_pseudo_family.py.
#include "arrays.hpp"
#include "levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace suffice {

using Int = std::int64_t;
using Ints = std::vector<Int>;
using Floats = std::vector<double>;
using InCodes = In<std::int32_t, 2>;
using OutTable = Out<double, 2>;

constexpr Int TILE_CELLS = Int{1} << 22;  // of one array of a tile, unless a single variable has more states
constexpr Int LEAST_TILE = 8, LARGEST_TILE = 128;
constexpr double INF = std::numeric_limits<double>::infinity();

// Which variables lie in which scopes, in both directions.
struct Incidence {
    Ints sizes, line;                       // numbers of states, and their sums so far
    Ints member_at, member, member_stride;  // the variables of every scope, and their strides in its table
    Ints starts;                            // where each table begins in θ, and where the last one ends
    Ints touch_at, touch, touch_stride;     // the scopes that hold each variable, and its strides there

    Incidence(const InInts &n_states, const InInts &offsets, const InInts &variables)
        : sizes(n_states.data(), n_states.data() + n_states.size()), line(1, 0),
          member_at(offsets.data(), offsets.data() + offsets.size()),
          member(variables.data(), variables.data() + variables.size()), member_stride(member.size()), starts(1, 0),
          touch_at(sizes.size() + 1) {
        constexpr Int most_per_table = Int{1} << 32, most = Int{1} << 56;
        require_range(sizes.data(), n_variables(), 1, Int{1} << 31, "sizes");
        require(!member_at.empty(), "member_at must not be empty");
        require_offsets(offsets, n_scopes(), variables.shape(0), "member_at");
        require_range(member.data(), variables.shape(0), 0, n_variables(), "member");
        for (const Int size : sizes) line.push_back(line.back() + size);
        for (Int scope = 0; scope < n_scopes(); ++scope) {
            Int cells = 1;
            for (Int m = member_at[scope + 1]; m-- > member_at[scope];) {
                member_stride[m] = cells;
                require(cells <= most_per_table / sizes[member[m]], "a table has more than 2**32 cells");
                cells *= sizes[member[m]];
            }
            require(cells <= most - starts.back(), "the tables have too many cells");
            starts.push_back(starts.back() + cells);
        }
        list_touches();
    }

    Int n_variables() const { return static_cast<Int>(sizes.size()); }
    Int n_scopes() const { return static_cast<Int>(member_at.size()) - 1; }
    Int n_cells() const { return starts.back(); }
    Int n_lines() const { return line.back(); }
    Int tile_rows() const {
        return std::max(LEAST_TILE, std::min(LARGEST_TILE, TILE_CELLS / std::max(Int{1}, n_lines())));
    }

  private:
    void list_touches() {
        for (Int m = member_at[0]; m < member_at.back(); ++m) ++touch_at[member[m] + 1];
        for (Int v = 0; v < n_variables(); ++v) touch_at[v + 1] += touch_at[v];
        touch.resize(touch_at.back());
        touch_stride.resize(touch_at.back());
        Ints next(touch_at.begin(), touch_at.end() - 1);
        for (Int scope = 0; scope < n_scopes(); ++scope)
            for (Int m = member_at[scope]; m < member_at[scope + 1]; ++m) {
                touch[next[member[m]]] = scope;
                touch_stride[next[member[m]]++] = member_stride[m];
            }
    }
};

// The rows of D, compressed: row c holds value[at[c]:at[c + 1]] in the columns column[…].
struct Design {
    Ints at, column;
    Floats value;
    Int n_columns;

    Design(const InInts &offsets, const InInts &columns, const InFloats &values, Int width)
        : at(offsets.data(), offsets.data() + offsets.size()), column(columns.data(), columns.data() + columns.size()),
          value(values.data(), values.data() + values.size()), n_columns(width) {
        require(!at.empty(), "at must not be empty");
        require_length(values, columns.shape(0), "value");
        require_offsets(offsets, offsets.shape(0) - 1, columns.shape(0), "at");
        require(width >= 0, "n_columns must not be negative");
        require_range(column.data(), columns.shape(0), 0, width, "column");
    }

    // A bound on the number of columns that touch one variable.
    Int width(const Incidence &model) const {
        Int most = 0;
        for (Int v = 0; v < model.n_variables(); ++v) {
            Int entries = 0;
            for (Int t = model.touch_at[v]; t < model.touch_at[v + 1]; ++t)
                entries += at[model.starts[model.touch[t] + 1]] - at[model.starts[model.touch[t]]];
            most = std::max(most, entries);
        }
        return std::min(most, n_columns);
    }
};

// One tile ----------------------------------------------------------------------------------------------------

// Some rows of codes, which lie variable by variable.
struct Rows {
    const std::int32_t *codes;
    Int n_rows, low, n;

    const std::int32_t *of(Int v) const { return codes + v * n_rows + low; }
    Rows tile(Int start, Int rows) const { return {codes, n_rows, start, std::min(rows, low + n - start)}; }
};

// Write the place of a scope's cell within its table in every row of a tile; 32 bits are enough, and faster.
SUFFICE_INLINE void find_offsets(const Incidence &model, Int scope, Rows rows, std::uint32_t *__restrict offset) {
    std::fill(offset, offset + rows.n, 0u);
    for (Int m = model.member_at[scope]; m < model.member_at[scope + 1]; ++m) {
        const std::int32_t *__restrict code = rows.of(model.member[m]);
        const auto stride = static_cast<std::uint32_t>(model.member_stride[m]);
        for (Int i = 0; i < rows.n; ++i) offset[i] += static_cast<std::uint32_t>(code[i]) * stride;
    }
}

// Write the place of a scope's cell among all cells; rows take turns among copies of all cells, `step` apart.
SUFFICE_INLINE void find_cells(const Incidence &model, Int scope, Rows rows, Int copies, Int step,
                               Int *__restrict cells) {
    std::uint32_t offset[LARGEST_TILE];
    find_offsets(model, scope, rows, offset);
    const Int start = model.starts[scope];
    if (copies == 1) {
        for (Int i = 0; i < rows.n; ++i) cells[i] = start + offset[i];
    } else {
        for (Int i = 0; i < rows.n; ++i) cells[i] = start + offset[i] + (i & (copies - 1)) * step;
    }
}

// How far the cell of a turn is from the observed one.
struct Turn {
    std::int32_t last;  // the last code from which a turn does not go past the last state
    Int ahead, round;

    Turn(Int r, Int size, Int stride)
        : last(static_cast<std::int32_t>(size - r - 1)), ahead(r * stride), round((r - size) * stride) {}
    Int from(std::int32_t code) const { return code <= last ? ahead : round; }
};

// Write Σ_{S∋v} θ_S(turned) − θ_S(observed) of every variable and turn.
SUFFICE_INLINE void find_turns(const Incidence &model, Rows rows, const double *theta, Int *__restrict cells,
                               double *__restrict observed, double *__restrict out) {
    const Int tile = model.tile_rows();
    for (Int k = 0; k < model.n_lines(); ++k) std::fill(out + k * tile, out + k * tile + rows.n, 0.0);
    for (Int scope = 0; scope < model.n_scopes(); ++scope) {
        find_cells(model, scope, rows, 1, 0, cells);
        for (Int i = 0; i < rows.n; ++i) observed[i] = theta[cells[i]];
        for (Int m = model.member_at[scope]; m < model.member_at[scope + 1]; ++m) {
            const Int v = model.member[m], size = model.sizes[v];
            const std::int32_t *__restrict code = rows.of(v);
            for (Int r = 1; r < size; ++r) {
                double *__restrict line = out + (model.line[v] + r) * tile;
                const Turn turn(r, size, model.member_stride[m]);
                for (Int i = 0; i < rows.n; ++i) line[i] += theta[cells[i] + turn.from(code[i])] - observed[i];
            }
        }
    }
}

// Replace logits by probabilities; return Σ_i n_i Σ_v log p_v0 where there are weights n_i.
SUFFICE_INLINE double normalise(const Incidence &model, const double *weights, Int n, double *logits) {
    const Int tile = model.tile_rows();
    double log_p = 0.0;
    for (Int v = 0; v < model.n_variables(); ++v) {
        const Int size = model.sizes[v];
        for (Int i = 0; i < n; ++i) {
            double *logit = logits + model.line[v] * tile + i;
            Int top = 0;
            for (Int k = 1; k < size; ++k)
                if (logit[k * tile] > logit[top * tile]) top = k;
            const double highest = logit[top * tile];
            double others = 0.0;
            for (Int k = 0; k < size; ++k)
                if (k != top) {
                    logit[k * tile] = std::exp(logit[k * tile] - highest);
                    others += logit[k * tile];
                }
            logit[top * tile] = 1.0;
            for (Int k = 0; k < size; ++k) logit[k * tile] /= 1.0 + others;
            if (weights != nullptr) log_p -= weights[i] * (highest + std::log1p(others));  // eq pseudo-likelihood
        }
    }
    return log_p;
}

// Add what `moved` says of every variable and turn to the cells turned to; take it from the observed cells.
//
// `out` may hold several copies of all cells, a power of two. Neighbouring rows, which often meet in one cell, then
// need not wait for each other's sum; the copies are to be added.
SUFFICE_INLINE void put_back(const Incidence &model, Rows rows, const double *moved, Int copies, Int *__restrict cells,
                             double *__restrict left, double *__restrict out) {
    const Int tile = model.tile_rows();
    for (Int scope = 0; scope < model.n_scopes(); ++scope) {
        find_cells(model, scope, rows, copies, model.n_cells(), cells);
        std::fill(left, left + rows.n, 0.0);
        for (Int m = model.member_at[scope]; m < model.member_at[scope + 1]; ++m) {
            const Int v = model.member[m], size = model.sizes[v];
            const std::int32_t *__restrict code = rows.of(v);
            for (Int r = 1; r < size; ++r) {
                const double *__restrict line = moved + (model.line[v] + r) * tile;
                const Turn turn(r, size, model.member_stride[m]);
                for (Int i = 0; i < rows.n; ++i) {
                    out[cells[i] + turn.from(code[i])] += line[i];
                    left[i] += line[i];
                }
            }
        }
        for (Int i = 0; i < rows.n; ++i) out[cells[i]] -= left[i];
    }
}

// Room for one tile.
struct Room {
    Floats p, along, observed, left;
    Ints cells;

    explicit Room(const Incidence &model, bool both = false)
        : p(model.n_lines() * model.tile_rows()), along(both ? p.size() : 0), observed(model.tile_rows()),
          left(model.tile_rows()), cells(model.tile_rows()) {}
};

// What kernels rely on ----------------------------------------------------------------------------------------

// Whether all codes are states of their variables.
SUFFICE_INLINE bool has_states(const Incidence *model, Rows rows) {
    for (Int v = 0; v < model->n_variables(); ++v) {
        std::uint32_t largest = 0;  // negative codes are large without their sign
        for (Int i = 0; i < rows.n; ++i) largest = std::max(largest, static_cast<std::uint32_t>(rows.of(v)[i]));
        if (static_cast<Int>(largest) >= model->sizes[v]) return false;
    }
    return true;
}

Rows rows_of(const Incidence &model, const InCodes &codes, Int low, Int high) {
    const Int n_rows = codes.shape(1);
    require_shape(codes, {model.n_variables(), n_rows}, "codes");
    require(0 <= low && low <= high && high <= n_rows, "low and high must be a range of rows");
    const Rows rows = {codes.data(), n_rows, low, high - low};
    if (!levels::run<has_states>(&model, rows)) throw std::out_of_range("codes are not below the numbers of states");
    return rows;
}

void require_copies(const Incidence &model, const OutTable &out) {
    const Int copies = out.shape(0);
    require_shape(out, {copies, model.n_cells()}, "out");
    require(copies > 0 && (copies & (copies - 1)) == 0, "out must hold a power of two of copies");
}

void require_design(const Incidence &model, const Design &design, const OutTable &out, Int n_lines) {
    require(static_cast<Int>(design.at.size()) == model.n_cells() + 1, "the design must have a row for every cell");
    require_shape(out, {n_lines, design.n_columns}, "out");
}

// Sums over rows ----------------------------------------------------------------------------------------------

SUFFICE_INLINE void count_tile(const Incidence *model, Rows rows, const double *weights, double *out) {
    std::uint32_t offset[LARGEST_TILE];
    for (Int scope = 0; scope < model->n_scopes(); ++scope) {
        find_offsets(*model, scope, rows, offset);
        const auto times = static_cast<double>(model->member_at[scope + 1] - model->member_at[scope]);
        double *table = out + model->starts[scope];
        for (Int i = 0; i < rows.n; ++i) table[offset[i]] += weights[i] * times;
    }
}

void count_observed(const Incidence &model, const InCodes &codes, const InFloats &weights, const OutFloats &out) {
    const Rows rows = rows_of(model, codes, 0, codes.shape(1));
    require_length(weights, rows.n, "weights");
    require_length(out, model.n_cells(), "out");
    for (Int start = 0; start < rows.n; start += LARGEST_TILE)
        levels::run<count_tile>(&model, rows.tile(start, LARGEST_TILE), weights.data() + start, out.data());
}

SUFFICE_INLINE void mark_tile(const Incidence *model, Rows rows, const double *theta, bool *out) {
    std::uint32_t offset[LARGEST_TILE];
    for (Int scope = 0; scope < model->n_scopes(); ++scope) {
        find_offsets(*model, scope, rows, offset);
        const double *table = theta + model->starts[scope];
        for (Int i = 0; i < rows.n; ++i) out[i] |= table[offset[i]] == -INF;
    }
}

void find_impossible(const Incidence &model, const InCodes &codes, const InFloats &theta, const Out<bool, 1> &out) {
    const Rows rows = rows_of(model, codes, 0, codes.shape(1));
    require_length(theta, model.n_cells(), "theta");
    require_length(out, rows.n, "out");
    for (Int start = 0; start < rows.n; start += LARGEST_TILE)
        levels::run<mark_tile>(&model, rows.tile(start, LARGEST_TILE), theta.data(), out.data() + start);
}

SUFFICE_INLINE double add_expected_tile(const Incidence *model, Rows rows, const double *weights, const double *theta,
                                        Room *room, Int copies, double *out) {
    const Int tile = model->tile_rows();
    double *p = room->p.data();
    find_turns(*model, rows, theta, room->cells.data(), room->observed.data(), p);
    const double log_p = normalise(*model, weights, rows.n, p);
    for (Int k = 0; k < model->n_lines(); ++k)
        for (Int i = 0; i < rows.n; ++i) p[k * tile + i] *= weights[i];
    put_back(*model, rows, p, copies, room->cells.data(), room->left.data(), out);
    return log_p;
}

double add_expected(const Incidence &model, const InCodes &codes, const InFloats &weights, Int low, Int high,
                    const InFloats &theta, const OutTable &out) {
    const Rows rows = rows_of(model, codes, low, high);
    require_length(weights, rows.n_rows, "weights");
    require_length(theta, model.n_cells(), "theta");
    require_copies(model, out);
    Room room(model);
    double log_p = 0.0;
    for (Int start = low; start < high; start += model.tile_rows())
        log_p += levels::run<add_expected_tile>(&model, rows.tile(start, model.tile_rows()), weights.data() + start,
                                                theta.data(), &room, static_cast<Int>(out.shape(0)), out.data());
    return log_p;
}

SUFFICE_INLINE void add_curvature_tile(const Incidence *model, Rows rows, const double *weights, const double *theta,
                                       const double *direction, Room *room, Int copies, double *out) {
    const Int tile = model->tile_rows();
    double *p = room->p.data(), *along = room->along.data();
    find_turns(*model, rows, theta, room->cells.data(), room->observed.data(), p);
    normalise(*model, nullptr, rows.n, p);
    find_turns(*model, rows, direction, room->cells.data(), room->observed.data(), along);
    for (Int v = 0; v < model->n_variables(); ++v) {
        const Int first = model->line[v] * tile, end = model->line[v + 1] * tile;
        double *__restrict mean = room->left.data();
        std::fill(mean, mean + rows.n, 0.0);
        for (Int k = first; k < end; k += tile)
            for (Int i = 0; i < rows.n; ++i) mean[i] += p[k + i] * along[k + i];
        for (Int k = first; k < end; k += tile)
            for (Int i = 0; i < rows.n; ++i) along[k + i] = weights[i] * p[k + i] * (along[k + i] - mean[i]);
    }
    put_back(*model, rows, along, copies, room->cells.data(), room->left.data(), out);
}

void add_curvature(const Incidence &model, const InCodes &codes, const InFloats &weights, Int low, Int high,
                   const InFloats &theta, const InFloats &direction, const OutTable &out) {
    const Rows rows = rows_of(model, codes, low, high);
    require_length(weights, rows.n_rows, "weights");
    require_length(theta, model.n_cells(), "theta");
    require_length(direction, model.n_cells(), "direction");
    require_copies(model, out);
    Room room(model, true);
    for (Int start = low; start < high; start += model.tile_rows())
        levels::run<add_curvature_tile>(&model, rows.tile(start, model.tile_rows()), weights.data() + start,
                                        theta.data(), direction.data(), &room, static_cast<Int>(out.shape(0)),
                                        out.data());
}

// In the space of weights -------------------------------------------------------------------------------------

void add_features(const Design &design, Int cell, double factor, double *out) {
    for (Int e = design.at[cell]; e < design.at[cell + 1]; ++e) out[design.column[e]] += factor * design.value[e];
}

void add_scores_tile(const Incidence &model, const Design &design, Rows rows, Room &room, double *out) {
    for (Int scope = 0; scope < model.n_scopes(); ++scope) {
        find_cells(model, scope, rows, 1, 0, room.cells.data());
        for (Int m = model.member_at[scope]; m < model.member_at[scope + 1]; ++m) {
            const Int v = model.member[m];
            const std::int32_t *code = rows.of(v);
            for (Int r = 1; r < model.sizes[v]; ++r) {
                const double *line = room.p.data() + (model.line[v] + r) * model.tile_rows();
                const Turn turn(r, model.sizes[v], model.member_stride[m]);
                for (Int i = 0; i < rows.n; ++i) {
                    double *score = out + i * design.n_columns;
                    add_features(design, room.cells[i], line[i], score);
                    add_features(design, room.cells[i] + turn.from(code[i]), -line[i], score);
                }
            }
        }
    }
}

// Write the conditional probabilities of a tile.
SUFFICE_INLINE void find_conditionals(const Incidence *model, Rows rows, const double *theta, Room *room) {
    find_turns(*model, rows, theta, room->cells.data(), room->observed.data(), room->p.data());
    normalise(*model, nullptr, rows.n, room->p.data());
}

void add_scores(const Incidence &model, const Design &design, const InCodes &codes, Int low, Int high,
                const InFloats &theta, const OutTable &out) {
    const Rows rows = rows_of(model, codes, low, high);
    require_length(theta, model.n_cells(), "theta");
    require_design(model, design, out, rows.n);
    Room room(model);
    for (Int start = low; start < high; start += model.tile_rows()) {
        const Rows tile = rows.tile(start, model.tile_rows());
        levels::run<find_conditionals>(&model, tile, theta.data(), &room);
        add_scores_tile(model, design, tile, room, out.data() + (start - low) * design.n_columns);
    }
}

// The features of one variable in one row, at every turn.
class Features {
  public:
    Features(const Incidence &model, const Design &design)
        : model(model), design(design), width(design.width(model)), place(design.n_columns, -1), found(width),
          nonzero(width), mean(width) {
        const Int most = model.sizes.empty() ? 0 : *std::max_element(model.sizes.begin(), model.sizes.end());
        f.resize(most * width);
    }

    // Write f_vr of row i into f[r, :], its columns the weights `found`. `place` has −1 for every weight, before and
    // after.
    void gather(Int v, Rows rows, Int i) {
        const Int size = model.sizes[v], code = rows.of(v)[i];
        n = 0;
        for (Int t = model.touch_at[v]; t < model.touch_at[v + 1]; ++t) {
            const Int scope = model.touch[t];
            Int cell = model.starts[scope];
            for (Int m = model.member_at[scope]; m < model.member_at[scope + 1]; ++m)
                cell += rows.of(model.member[m])[i] * model.member_stride[m];
            for (Int r = 0; r < size; ++r)
                add(r, size, cell + (code + r < size ? r : r - size) * model.touch_stride[t]);
        }
        for (Int a = 0; a < n; ++a) place[found[a]] = -1;
    }

    // Add n_i Cov(f_v), each pair of weights once; `p` has the probabilities of the turns, `step` apart. Features are
    // taken relative to the likeliest turn, so that nearly certain conditionals do not lose their small variances to
    // rounding.
    void add_covariance(const double *p, Int step, Int size, double weight, double *out) {
        Int top = 0;
        for (Int r = 1; r < size; ++r)
            if (p[r * step] > p[top * step]) top = r;
        std::fill(mean.begin(), mean.begin() + n, 0.0);
        for (Int r = 0; r < size; ++r) {
            if (r == top) continue;
            double *__restrict own = f.data() + r * width;
            const double *__restrict likeliest = f.data() + top * width;
            for (Int a = 0; a < n; ++a) {
                own[a] -= likeliest[a];
                mean[a] += p[r * step] * own[a];
            }
            add_square(weight * p[r * step], own, out);
        }
        add_square(-weight, mean.data(), out);
    }

  private:
    void add(Int r, Int size, Int cell) {
        for (Int e = design.at[cell]; e < design.at[cell + 1]; ++e) {
            const Int column = design.column[e];
            if (place[column] < 0) {
                place[column] = n;
                found[n] = column;
                for (Int k = 0; k < size; ++k) f[k * width + n] = 0.0;
                ++n;
            }
            f[r * width + place[column]] += design.value[e];
        }
    }

    // Add factor · values valuesᵀ at the weights `found`: each pair of weights once, at one of its two places.
    void add_square(double factor, const double *values, double *out) {
        Int m = 0;
        for (Int a = 0; a < n; ++a) {
            nonzero[m] = a;
            m += values[a] != 0;
        }
        for (Int i = 0; i < m; ++i) {
            const Int a = nonzero[i];
            double *line = out + found[a] * design.n_columns;
            const double scaled = factor * values[a];
            for (Int j = 0; j <= i; ++j) line[found[nonzero[j]]] += scaled * values[nonzero[j]];
        }
    }

    const Incidence &model;
    const Design &design;
    Int width, n = 0;
    Ints place, found, nonzero;
    Floats f, mean;
};

void add_covariances(const Incidence &model, const Design &design, const InCodes &codes, const InFloats &weights,
                     Int low, Int high, const InFloats &theta, const OutTable &out) {
    const Rows rows = rows_of(model, codes, low, high);
    require_length(weights, rows.n_rows, "weights");
    require_length(theta, model.n_cells(), "theta");
    require_design(model, design, out, design.n_columns);
    Room room(model);
    Features features(model, design);
    const Int step = model.tile_rows();
    for (Int start = low; start < high; start += step) {
        const Rows tile = rows.tile(start, step);
        levels::run<find_conditionals>(&model, tile, theta.data(), &room);
        for (Int i = 0; i < tile.n; ++i)
            for (Int v = 0; v < model.n_variables(); ++v) {
                features.gather(v, tile, i);
                features.add_covariance(room.p.data() + model.line[v] * step + i, step, model.sizes[v],
                                        weights.data()[start + i], out.data());
            }
    }
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
auto view_of(const std::vector<T> &values, nb::handle owner) {
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

void bind_plans(nb::module_ &m) {
    const auto reduced = nb::sig("def __reduce__(self) -> tuple[object, ...]");
    nb::class_<Incidence>(m, "Incidence", "Which variables lie in which scopes.")
        .def(nb::init<const InInts &, const InInts &, const InInts &>(), nb::arg("sizes").noconvert(),
             nb::arg("member_at").noconvert(), nb::arg("member").noconvert(), WithoutLock(),
             R"(Parameters
----------
sizes : int64 array, shape (n_variables,)
    Numbers of states.
member_at, member : int64 arrays
    The variables of scope s are ``member[member_at[s]:member_at[s + 1]]``; in its table the last one varies fastest.
)")
        .def(
            "__reduce__",
            [](nb::handle_t<Incidence> self) {
                const Incidence &of = nb::cast<const Incidence &>(self);
                return nb::make_tuple(self.type(), nb::make_tuple(view_of(of.sizes, self), view_of(of.member_at, self),
                                                                  view_of(of.member, self)));
            },
            reduced);
    nb::class_<Design>(m, "Design", "A sparse matrix with one row per cell of all tables and one column per weight.")
        .def(nb::init<const InInts &, const InInts &, const InFloats &, Int>(), nb::arg("at").noconvert(),
             nb::arg("column").noconvert(), nb::arg("value").noconvert(), nb::arg("n_columns"), WithoutLock(),
             "Row c holds ``value[at[c]:at[c + 1]]`` in the columns ``column[at[c]:at[c + 1]]``.")
        .def(
            "__reduce__",
            [](nb::handle_t<Design> self) {
                const Design &of = nb::cast<const Design &>(self);
                return nb::make_tuple(self.type(), nb::make_tuple(view_of(of.at, self), view_of(of.column, self),
                                                                  view_of(of.value, self), of.n_columns));
            },
            reduced);
}

}  // namespace

NB_MODULE(pseudo_likelihood, m) {
    m.doc() = R"(The pseudo-likelihood of rows: every variable given all others.

Codes are int32 arrays of shape (n_variables, n_rows), weights n_i have shape (n_rows,), θ is flat with one number per
cell of all tables. Kernels that take ``low`` and ``high`` visit these rows only. All add to what ``out`` holds.)";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    bind_plans(m);
    m.def("count_observed", &count_observed, nb::arg("model"), nb::arg("codes").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Add the weight of every observed cell, once for each variable of its scope; ``out`` has shape (n_cells,).");
    m.def("find_impossible", &find_impossible, nb::arg("model"), nb::arg("codes").noconvert(),
          nb::arg("theta").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Mark the rows that have a cell where θ is -inf; ``out`` is a bool array of shape (n_rows,).");
    m.def("add_expected", &add_expected, nb::arg("model"), nb::arg("codes").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("low"), nb::arg("high"), nb::arg("theta").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Add to every cell what rows expect of it beyond what they hold; return Σ_i n_i Σ_v log p(x_v | x_-v).\n\n"
          "``out`` has shape (copies, n_cells), a power of two of copies that are to be added.");
    m.def("add_curvature", &add_curvature, nb::arg("model"), nb::arg("codes").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("low"), nb::arg("high"), nb::arg("theta").noconvert(),
          nb::arg("direction").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Add the derivative of what `add_expected` adds, in a direction of θ: n_i p_vr (d_vr - Σ_r p_vr d_vr).");
    m.def("add_scores", &add_scores, nb::arg("model"), nb::arg("design"), nb::arg("codes").noconvert(), nb::arg("low"),
          nb::arg("high"), nb::arg("theta").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          "Add the score of every row, Σ_v (f_v0 - Σ_r p_vr f_vr); ``out`` has shape (high - low, n_columns).");
    m.def("add_covariances", &add_covariances, nb::arg("model"), nb::arg("design"), nb::arg("codes").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("low"), nb::arg("high"), nb::arg("theta").noconvert(),
          nb::arg("out").noconvert(), WithoutLock(),
          "Add Σ_i n_i Σ_v Cov(f_v), each pair of weights once; ``out`` has shape (n_columns, n_columns).\n\n"
          "The matrix is then ``out + out.T`` with the diagonal once. Only weights that touch a variable are visited.");
}
