// Gibbs sampling: one variable after another is drawn anew, given all others, in many chains at once.
//
// Chains lie side by side: a *tile* holds the states of some chains, one row per variable, one *lane* per chain, and
// whatever is done to a variable is done to all lanes in short loops that compilers turn into vector instructions.
//
// Randomness is counter-based, Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): the number that decides about
// (chain, sweep, variable) depends on these and the key alone, never on tiles, threads or how sweeps were shared out.
// One counter serves four chains.
//
// A draw inverts the distribution function in whole numbers. State k is drawn when exactly k of the *cuts*
// ⌊2⁵³ P(x_v < 1)⌋, ⌊2⁵³ P(x_v < 2)⌋, … do not exceed a random number of 53 bits. Its upper 32 bits nearly always
// decide; the others are made only when these equal those of a cut.
//
// There are three ways to the cuts, chosen for each variable: TABLE, written down before for every configuration of the
// neighbours; PAIR, from a field and couplings, for two states and tables of at most two variables; and ANY.
//
// Slow twins of all kernels: tests/native/test_gibbs.py.
#include "arrays.hpp"
#include "levels.hpp"
#include "philox.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace suffice {

using Int = std::int64_t;
using Ints = std::vector<Int>;
using Word = std::uint32_t;
using Cut = std::uint64_t;

constexpr Int TABLE = 0, PAIR = 1, ANY = 2;
constexpr Int CHAINS_PER_COUNTER = 4, MOST_CONFIGURATIONS = 256;  // a configuration's number is one byte
constexpr Int LOW_BITS = 21, SPARE_BITS = 11;                     // of the second word: used, and not used
constexpr Int BLOCK = 64;                                         // variables that are transposed at a time
constexpr double BITS = 9007199254740992.0;                       // 2⁵³
constexpr double INF = std::numeric_limits<double>::infinity();

// Random words ------------------------------------------------------------------------------------------------

// Which chains and sweep are at work: what the random words depend on.
struct Stream {
    std::uint64_t chain, sweep, key;
};

// Write the words of all lanes; `lower` is 0 or 1.
SUFFICE_INLINE void draw_lanes(Word *words, Int lanes, Stream at, std::uint64_t variable, Word lower) {
    const philox::Counter counter = {static_cast<Word>(at.chain / CHAINS_PER_COUNTER), static_cast<Word>(at.sweep),
                             static_cast<Word>(variable), static_cast<Word>(2 * (at.sweep >> 32) + lower)};
    philox::write(words, lanes / CHAINS_PER_COUNTER, counter, at.key);
}

// Raise a ValueError unless each part of the counters of `n` words and `sweeps` sweeps fits 32 bits.
void require_counters(std::uint64_t chain, Int n, std::uint64_t first, Int sweeps) {
    constexpr std::uint64_t chains = std::uint64_t{1} << 34, numbers = std::uint64_t{1} << 63;
    require(chain % CHAINS_PER_COUNTER == 0, "chain must be a multiple of four");
    require(chain <= chains && static_cast<std::uint64_t>(n) <= chains - chain, "chain must be less than 2**34");
    require(sweeps >= 0, "sweeps must not be negative");
    require(first <= numbers && static_cast<std::uint64_t>(sweeps) <= numbers - first,
            "numbers of sweeps must be less than 2**63");
}

void draw_words(const Out<Word, 1> &words, std::uint64_t chain, std::uint64_t sweep, std::uint32_t variable,
                std::uint64_t key, bool lower) {
    const Int n = words.shape(0);
    require(n % CHAINS_PER_COUNTER == 0, "words must have a multiple of four entries");
    require_counters(chain, n, sweep, 1);
    draw_lanes(words.data(), n, {chain, sweep, key}, variable, lower);
}

// The net -----------------------------------------------------------------------------------------------------

Ints copy_of(const InInts &values) { return Ints(values.data(), values.data() + values.size()); }

// Variables and the tables that touch them.
//
// `x_at` arrays have one place more than there are x: the range of x number i is x_at[i] to x_at[i + 1].
struct Net {
    Ints sizes;                           // number of states of every variable
    Ints member_at, member, member_step;  // the variables of every table, and how far apart their states are in it
    Ints fixed;                           // the states of variables that are held fixed; others have −1
    Ints order;                           // the variables that are drawn, in this order
    Int most_configurations, most_cuts;   // up to which the way is TABLE
    Ints table_at;                        // where every table begins
    Ints touch_at, touch, touch_step;     // for every table that holds a variable: where it begins, fixed variables at
                                          // their states, and how far apart the variable's states are in it
    Ints other_at, other, other_step;     // the other variables of each of these tables
    Ints near_at, near, near_step;        // the neighbours of every variable, and how far apart their states are in a
                                          // configuration's number; the latter for TABLE only
    Ints way;                             // TABLE, PAIR or ANY, as far as the structure tells
    Ints cut_at;                          // the cuts of every variable, cut by cut, configurations within; TABLE only
    Int most_states = 2;                  // of a variable that is drawn, at least two

    Net(const InInts &sizes, const InInts &member_at, const InInts &member, const InInts &fixed, const InInts &order,
        Int most_configurations, Int most_cuts)
        : sizes(copy_of(sizes)), member_at(copy_of(member_at)), member(copy_of(member)), fixed(copy_of(fixed)),
          order(copy_of(order)), most_configurations(most_configurations), most_cuts(most_cuts) {
        const Int n = sizes.shape(0);
        require_range(sizes.data(), n, 1, (Int{1} << 32) + 1, "sizes");
        require(n <= Int{1} << 32, "there may be at most 2**32 variables");
        require(member_at.shape(0) > 0, "member_at must not be empty");
        require_offsets(member_at, member_at.shape(0) - 1, member.shape(0), "member_at");
        require_range(member.data(), member.shape(0), 0, n, "member");
        require_length(fixed, n, "fixed");
        for (Int v = 0; v < n; ++v) require_range(fixed.data() + v, 1, -1, this->sizes[v], "fixed");
        require_range(order.data(), order.shape(0), 0, n, "order");
        for (const Int v : this->order)
            require(this->sizes[v] > 1 && this->fixed[v] < 0, "order may hold free variables of several states only");
        require(0 <= most_configurations && most_configurations <= MOST_CONFIGURATIONS,
                "most_configurations must be between 0 and 256");
        place_tables();
        list_touches();
        list_neighbours();
        choose_ways();
    }

    Int n_variables() const { return static_cast<Int>(sizes.size()); }
    Int n_tables() const { return static_cast<Int>(member_at.size()) - 1; }
    Int n_cells() const { return table_at.back(); }
    Int n_cuts() const { return cut_at.back(); }
    // The number of configurations of a variable's neighbours; TABLE only.
    Int width(Int v) const { return (cut_at[v + 1] - cut_at[v]) / (sizes[v] - 1); }

  private:
    void place_tables() {
        constexpr Int most_per_table = Int{1} << 32, most = Int{1} << 56;
        member_step.resize(member.size());
        table_at.assign(1, 0);
        for (Int table = 0; table < n_tables(); ++table) {
            Int cells = 1;
            for (Int m = member_at[table + 1]; m-- > member_at[table];) {
                member_step[m] = cells;
                require(cells <= most_per_table / sizes[member[m]], "a table has more than 2**32 cells");
                cells *= sizes[member[m]];
            }
            require(cells <= most - table_at.back(), "the tables have too many cells");
            table_at.push_back(table_at.back() + cells);
        }
    }

    void list_touches() {
        std::vector<Ints> holding(sizes.size());  // the members that are a free variable
        for (Int m = member_at[0]; m < member_at.back(); ++m)
            if (fixed[member[m]] < 0) holding[member[m]].push_back(m);
        touch_at.assign(1, 0);
        other_at.assign(1, 0);
        for (Int v = 0; v < n_variables(); ++v) {
            for (const Int own : holding[v]) {
                const Int table = std::upper_bound(member_at.begin(), member_at.end(), own) - member_at.begin() - 1;
                Int begin = table_at[table];
                for (Int m = member_at[table]; m < member_at[table + 1]; ++m) {
                    if (fixed[member[m]] >= 0) {
                        begin += member_step[m] * fixed[member[m]];
                    } else if (member[m] != v) {
                        other.push_back(member[m]);
                        other_step.push_back(member_step[m]);
                    }
                }
                touch.push_back(begin);
                touch_step.push_back(member_step[own]);
                other_at.push_back(static_cast<Int>(other.size()));
            }
            touch_at.push_back(static_cast<Int>(touch.size()));
        }
    }

    void list_neighbours() {
        near_at.assign(1, 0);
        for (Int v = 0; v < n_variables(); ++v) {
            Ints found(other.begin() + other_at[touch_at[v]], other.begin() + other_at[touch_at[v + 1]]);
            std::sort(found.begin(), found.end());
            near.insert(near.end(), found.begin(), std::unique(found.begin(), found.end()));
            near_at.push_back(static_cast<Int>(near.size()));
        }
    }

    void choose_ways() {
        near_step.assign(near.size(), 0);
        cut_at.assign(1, 0);
        for (Int v = 0; v < n_variables(); ++v) {
            Int cells = 1;
            bool pairs = sizes[v] == 2;
            for (Int j = near_at[v + 1]; j-- > near_at[v];) {
                near_step[j] = cells;
                cells = std::min(cells * sizes[near[j]], MOST_CONFIGURATIONS + 1);
                pairs = pairs && sizes[near[j]] == 2;
            }
            for (Int t = touch_at[v]; t < touch_at[v + 1]; ++t) pairs = pairs && other_at[t + 1] - other_at[t] < 2;
            const bool tabled = cells <= most_configurations && cells * (sizes[v] - 1) <= most_cuts;
            way.push_back(tabled ? TABLE : pairs ? PAIR : ANY);
            cut_at.push_back(cut_at.back() + (tabled && fixed[v] < 0 ? cells * (sizes[v] - 1) : 0));
        }
        for (const Int v : order) most_states = std::max(most_states, sizes[v]);
    }
};

// Cuts --------------------------------------------------------------------------------------------------------

// ⌊2⁵³ share⌋; the share is between 0 and 1.
SUFFICE_INLINE Cut cut_of(double share) { return share >= 0 ? static_cast<Cut>(static_cast<Int>(share * BITS)) : 0; }

// Write the n − 1 cuts of the distribution p ∝ exp(log_p), `step` apart; where nothing is possible, the first state is
// drawn.
SUFFICE_INLINE void write_cuts_of(double *log_p, Int n, Cut *cuts, Int step) {
    double top = -INF, total = 0.0, below = 0.0;
    for (Int k = 0; k < n; ++k) top = std::max(top, log_p[k]);
    for (Int k = 0; k < n; ++k) {
        const double below_top = log_p[k] - top;  // exp(0) is another branch of the C library, hard to predict
        const double power = std::exp(below_top == 0 ? -1.0 : below_top);
        log_p[k] = log_p[k] > -INF ? (below_top == 0 ? 1.0 : power) : 0.0;
        total += log_p[k];
    }
    for (Int k = 0; k < n - 1; ++k) {
        below += log_p[k];
        cuts[k * step] = cut_of(total > 0 ? below / total : 1.0);
    }
}

// The upper bits of a cut; ties are looked at more closely, so that the last word may stand for 2³².
SUFFICE_INLINE Word upper_of(Cut cut) {
    return static_cast<Word>(std::min(cut >> LOW_BITS, Cut{std::numeric_limits<Word>::max()}));
}

// What the parameters make of a net.
struct Cuts {
    std::shared_ptr<const Net> net;
    Ints way;                      // PAIR has become ANY where a potential is zero
    std::vector<Word> upper;       // the upper 32 bits of every cut, 2³² − 1 instead of 2³²
    std::vector<Cut> whole;
    std::vector<double> field;     // log p(1)/p(0) when all neighbours are in state 0; PAIR only
    std::vector<double> coupling;  // what a neighbour in state 1 adds to it

    Cuts(std::shared_ptr<const Net> of, const InFloats &theta)
        : net(std::move(of)), way(net->way), upper(net->n_cuts()), whole(net->n_cuts()), field(net->sizes.size()),
          coupling(net->near.size()) {
        require_length(theta, net->n_cells(), "theta");
        Ints codes(net->sizes.size()), place(net->sizes.size());
        std::vector<double> log_p(net->most_states);
        for (const Int v : net->order) {
            if (way[v] == TABLE) {
                write_table(theta.data(), v, codes, log_p);
            } else if (way[v] == PAIR && !write_pair(theta.data(), v, place)) {
                way[v] = ANY;
            }
        }
    }

    Cuts(std::shared_ptr<const Net> of, const InInts &way, const In<Word, 1> &upper, const In<Cut, 1> &whole,
         const InFloats &field, const InFloats &coupling)
        : net(std::move(of)), way(copy_of(way)), upper(upper.data(), upper.data() + upper.size()),
          whole(whole.data(), whole.data() + whole.size()), field(field.data(), field.data() + field.size()),
          coupling(coupling.data(), coupling.data() + coupling.size()) {
        require_length(way, net->n_variables(), "way");
        for (Int v = 0; v < net->n_variables(); ++v)
            require(this->way[v] == net->way[v] || this->way[v] == ANY, "way must be that of the net, or ANY");
        require_length(upper, net->n_cuts(), "upper");
        require_length(whole, net->n_cuts(), "whole");
        require_length(field, net->n_variables(), "field");
        require_length(coupling, static_cast<Int>(net->near.size()), "coupling");
    }

  private:
    // Write the cuts of one variable for every configuration of its neighbours.
    void write_table(const double *theta, Int v, Ints &codes, std::vector<double> &log_p) {
        const Int size = net->sizes[v], width = net->width(v);
        for (Int configuration = 0; configuration < width; ++configuration) {
            for (Int j = net->near_at[v]; j < net->near_at[v + 1]; ++j)
                codes[net->near[j]] = configuration / net->near_step[j] % net->sizes[net->near[j]];
            std::fill(log_p.begin(), log_p.begin() + size, 0.0);
            for (Int t = net->touch_at[v]; t < net->touch_at[v + 1]; ++t) {
                Int at = net->touch[t];
                for (Int o = net->other_at[t]; o < net->other_at[t + 1]; ++o)
                    at += net->other_step[o] * codes[net->other[o]];
                for (Int k = 0; k < size; ++k) log_p[k] += theta[at + k * net->touch_step[t]];
            }
            const Int first = net->cut_at[v] + configuration;
            write_cuts_of(log_p.data(), size, whole.data() + first, width);
            for (Int k = 0; k < size - 1; ++k) upper[first + k * width] = upper_of(whole[first + k * width]);
        }
    }

    // Write the field and the couplings of a variable; return whether they are finite.
    bool write_pair(const double *theta, Int v, Ints &place) {
        field[v] = 0.0;  // a variable that is drawn twice in a sweep comes here twice
        std::fill(coupling.begin() + net->near_at[v], coupling.begin() + net->near_at[v + 1], 0.0);
        for (Int j = net->near_at[v]; j < net->near_at[v + 1]; ++j) place[net->near[j]] = j;
        for (Int t = net->touch_at[v]; t < net->touch_at[v + 1]; ++t) {
            Int at = net->touch[t];
            const Int step = net->touch_step[t];
            if (!(theta[at] > -INF && theta[at + step] > -INF)) return false;
            const double base = theta[at + step] - theta[at];
            field[v] += base;
            for (Int o = net->other_at[t]; o < net->other_at[t + 1]; ++o) {
                at += net->other_step[o];
                if (!(theta[at] > -INF && theta[at + step] > -INF)) return false;
                coupling[place[net->other[o]]] += theta[at + step] - theta[at] - base;
            }
        }
        return true;
    }
};

// One variable in all lanes -----------------------------------------------------------------------------------

// Room for one variable in all lanes.
struct Room {
    std::vector<Word> words, more, upper, offset;
    std::vector<std::uint8_t> number;
    std::vector<Cut> whole;  // shape (most_states - 1, lanes)
    std::vector<double> odds, log_p;

    Room(Int lanes, Int most_states)
        : words(lanes), more(lanes), upper(lanes), offset(lanes), number(lanes), whole((most_states - 1) * lanes),
          odds(lanes), log_p(lanes * most_states) {}
};

// Write the number of the neighbours' configuration in every lane.
template <typename Code>
SUFFICE_INLINE void number_configurations(const Net &net, Int v, const Code *tile, Int lanes,
                                          std::uint8_t *__restrict number) {
    std::fill(number, number + lanes, std::uint8_t{0});
    for (Int j = net.near_at[v]; j < net.near_at[v + 1]; ++j) {
        const Code *__restrict row = tile + net.near[j] * lanes;
        const auto step = static_cast<std::uint8_t>(net.near_step[j]);
        for (Int i = 0; i < lanes; ++i)
            number[i] = static_cast<std::uint8_t>(number[i] + step * static_cast<std::uint8_t>(row[i]));
    }
}

template <typename T>
SUFFICE_INLINE void look_up(const T *__restrict table, const std::uint8_t *__restrict number, Int lanes,
                            T *__restrict found) {
    for (Int i = 0; i < lanes; ++i) found[i] = table[number[i]];
}

// Write the cuts of a variable of two states, from its field and couplings.
template <typename Code>
SUFFICE_INLINE void cut_pair(const Cuts &cuts, Int v, const Code *tile, Int lanes, double *__restrict odds,
                             Cut *whole) {
    const Net &net = *cuts.net;
    std::fill(odds, odds + lanes, cuts.field[v]);
    for (Int j = net.near_at[v]; j < net.near_at[v + 1]; ++j) {
        const Code *__restrict row = tile + net.near[j] * lanes;
        const double coupling = cuts.coupling[j];
        for (Int i = 0; i < lanes; ++i) odds[i] += coupling * row[i];
    }
    for (Int i = 0; i < lanes; ++i) {
        const double below = std::exp(odds[i] > 0 ? -odds[i] : odds[i]);
        whole[i] = cut_of((odds[i] > 0 ? below : 1.0) / (1.0 + below));
    }
}

// Add the offsets of some variables' states to all lanes; they stay within one table, which 32 bits can number.
template <typename Code>
SUFFICE_INLINE void add_offsets(const Int *variables, const Int *steps, Int n, const Code *tile, Int lanes,
                                Word *__restrict offset) {
    std::fill(offset, offset + lanes, Word{0});
    for (Int j = 0; j < n; ++j) {
        const Code *__restrict row = tile + variables[j] * lanes;
        const Word step = static_cast<Word>(steps[j]);
        for (Int i = 0; i < lanes; ++i) offset[i] += step * static_cast<Word>(row[i]);
    }
}

// Write the cuts of a variable, from all tables that hold it.
template <typename Code>
SUFFICE_INLINE void cut_any(const Net &net, const double *theta, Int v, const Code *tile, Int lanes, Word *offset,
                            double *__restrict log_p, Cut *whole) {
    const Int size = net.sizes[v];
    std::fill(log_p, log_p + lanes * size, 0.0);
    for (Int t = net.touch_at[v]; t < net.touch_at[v + 1]; ++t) {
        const Int first = net.other_at[t], step = net.touch_step[t];
        add_offsets(net.other.data() + first, net.other_step.data() + first, net.other_at[t + 1] - first, tile, lanes,
                    offset);
        for (Int i = 0; i < lanes; ++i) {
            const double *__restrict cell = theta + net.touch[t] + offset[i];
            for (Int k = 0; k < size; ++k) log_p[i * size + k] += cell[k * step];
        }
    }
    for (Int i = 0; i < lanes; ++i) write_cuts_of(log_p + i * size, size, whole + i, lanes);
}

SUFFICE_INLINE void write_uppers(const Cut *whole, Int lanes, Word *upper) {
    for (Int i = 0; i < lanes; ++i) upper[i] = upper_of(whole[i]);
}

// Draw state 0 or 1 by the first cut, or a higher one by a further cut; return whether some lane has a tie.
template <bool first, typename Code>
SUFFICE_INLINE Word compare(const Word *__restrict words, const Word *__restrict upper, Int lanes,
                            Code *__restrict row) {
    Word tied = 0;
    for (Int i = 0; i < lanes; ++i) {
        row[i] = static_cast<Code>((first ? 0 : row[i]) + (words[i] > upper[i]));
        tied |= words[i] == upper[i];
    }
    return tied;
}

// Draw again from all 53 bits.
template <typename Code>
SUFFICE_INLINE void settle(const Word *words, const Word *more, const Cut *whole, Int n_cuts, Int lanes, Code *row) {
    for (Int i = 0; i < lanes; ++i) {
        const std::uint64_t u = (std::uint64_t{words[i]} << LOW_BITS) | (more[i] >> SPARE_BITS);
        row[i] = 0;
        for (Int k = 0; k < n_cuts; ++k) row[i] = static_cast<Code>(row[i] + (u >= whole[k * lanes + i]));
    }
}

// Sweeps ------------------------------------------------------------------------------------------------------

// Draw every variable anew in all lanes.
template <typename Code>
SUFFICE_INLINE void sweep_tile(const Cuts *cuts, const double *theta, Code *tile, Int lanes, Stream at, Room *room) {
    const Net &net = *cuts->net;
    Word *words = room->words.data(), *upper = room->upper.data();
    Cut *whole = room->whole.data();
    std::uint8_t *number = room->number.data();
    for (const Int v : net.order) {
        const Int n_cuts = net.sizes[v] - 1, first = net.cut_at[v], width = net.width(v);
        const bool tabled = cuts->way[v] == TABLE;
        Code *row = tile + v * lanes;
        draw_lanes(words, lanes, at, static_cast<std::uint64_t>(v), 0);
        if (tabled) {
            number_configurations(net, v, tile, lanes, number);
            look_up(cuts->upper.data() + first, number, lanes, upper);
        } else {
            if (cuts->way[v] == PAIR)
                cut_pair(*cuts, v, tile, lanes, room->odds.data(), whole);
            else
                cut_any(net, theta, v, tile, lanes, room->offset.data(), room->log_p.data(), whole);
            write_uppers(whole, lanes, upper);
        }
        Word tied = compare<true>(words, upper, lanes, row);
        for (Int k = 1; k < n_cuts; ++k) {
            if (tabled)
                look_up(cuts->upper.data() + first + k * width, number, lanes, upper);
            else
                write_uppers(whole + k * lanes, lanes, upper);
            tied |= compare<false>(words, upper, lanes, row);
        }
        if (tied) {
            if (tabled)
                for (Int k = 0; k < n_cuts; ++k)
                    look_up(cuts->whole.data() + first + k * width, number, lanes, whole + k * lanes);
            draw_lanes(room->more.data(), lanes, at, static_cast<std::uint64_t>(v), 1);
            settle(words, room->more.data(), whole, n_cuts, lanes, row);
        }
    }
}

// Count the cell of every table that every chain is in.
template <typename Code>
SUFFICE_INLINE void count_cells(const Net *net, const Code *tile, Int lanes, Word *offset, Int n_chains,
                                double *visits) {
    for (Int table = 0; table < net->n_tables(); ++table) {
        const Int first = net->member_at[table], n = net->member_at[table + 1] - first;
        add_offsets(net->member.data() + first, net->member_step.data() + first, n, tile, lanes, offset);
        double *cells = visits + net->table_at[table];
        for (Int i = 0; i < n_chains; ++i) cells[i * net->n_cells() + offset[i]] += 1.0;
    }
}

// Copy one table to another, turned, by blocks, so that what is written stays in the cache.
template <typename Code>
void transpose(const Code *from, Int n_rows, Int n_columns, Int stride, Code *to, Int to_stride) {
    for (Int block = 0; block < n_columns; block += BLOCK) {
        const Int end = std::min(n_columns, block + BLOCK);
        for (Int row = 0; row < n_rows; ++row)
            for (Int column = block; column < end; ++column)
                to[column * to_stride + row] = from[row * stride + column];
    }
}

// Copy the states of all chains to a tile; lanes without a chain repeat the first one.
template <typename Code>
std::unique_ptr<Code[]> tile_of(const Net &net, const Out<Code, 2> &states, Int lanes) {
    const Int n_chains = states.shape(0), n = net.n_variables();
    require_shape(states, {n_chains, n}, "states");
    std::unique_ptr<Code[]> tile(new Code[n * lanes]);  // not filled with zeros first
    transpose(states.data(), n_chains, n, n, tile.get(), lanes);
    for (Int v = 0; v < n; ++v) {
        Code *row = tile.get() + v * lanes, largest = 0;
        for (Int i = 0; i < n_chains; ++i) largest = std::max(largest, row[i]);
        if (static_cast<Int>(largest) >= net.sizes[v])
            throw std::out_of_range("states has codes that are not below the variables' numbers of states");
        for (Int i = n_chains; i < lanes; ++i) row[i] = row[0];
    }
    return tile;
}

template <typename Code>
void run_sweeps(const Cuts &cuts, const InFloats &theta, const Out<Code, 2> &states, std::uint64_t chain,
                std::uint64_t first, Int sweeps, std::uint64_t key, const Out<double, 2> &visits) {
    const Net &net = *cuts.net;
    const Int n_chains = states.shape(0), n = net.n_variables();
    const Int lanes = (n_chains + CHAINS_PER_COUNTER - 1) / CHAINS_PER_COUNTER * CHAINS_PER_COUNTER;
    require(net.most_states - 1 <= Int{std::numeric_limits<Code>::max()}, "the type of states is too short");
    require_length(theta, net.n_cells(), "theta");
    require_counters(chain, lanes, first, sweeps);
    const bool counting = visits.is_valid();
    if (counting) require_shape(visits, {n_chains, net.n_cells()}, "visits");
    const std::unique_ptr<Code[]> tile = tile_of(net, states, lanes);
    Room room(lanes, net.most_states);
    for (Int sweep = 0; sweep < sweeps; ++sweep) {
        const Stream at = {chain, first + static_cast<std::uint64_t>(sweep), key};
        levels::run<sweep_tile<Code>>(&cuts, theta.data(), tile.get(), lanes, at, &room);
        if (counting)
            levels::run<count_cells<Code>>(&net, tile.get(), lanes, room.offset.data(), n_chains, visits.data());
    }
    transpose(tile.get(), n, n_chains, lanes, states.data(), n);
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
auto view_of(const std::vector<T> &values, nb::handle owner) {
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

template <typename Class, auto member>
void bind_array(nb::class_<Class> &type, const char *name, const char *doc) {
    type.def_prop_ro(
        name, [](nb::handle_t<Class> self) { return view_of(nb::cast<const Class &>(self).*member, self); }, doc);
}

void bind_net(nb::module_ &m) {
    nb::class_<Net> net(m, "Net", "Variables, the tables that hold them, and the order in which they are drawn.");
    net.def(nb::init<const InInts &, const InInts &, const InInts &, const InInts &, const InInts &, Int, Int>(),
            nb::arg("sizes").noconvert(), nb::arg("member_at").noconvert(), nb::arg("member").noconvert(),
            nb::arg("fixed").noconvert(), nb::arg("order").noconvert(), nb::arg("most_configurations"),
            nb::arg("most_cuts"), WithoutLock(),
            R"(Parameters
----------
sizes : int64 array, shape (n_variables,)
    Numbers of states.
member_at, member : int64 arrays
    The variables of table t are ``member[member_at[t]:member_at[t + 1]]``; the last one varies fastest.
fixed : int64 array, shape (n_variables,)
    The states of variables that are held fixed, and -1 for the others.
order : int64 array
    The variables that are drawn, in this order: free ones of at least two states.
most_configurations, most_cuts : int
    The conditional distributions of a variable are tabulated up to so many configurations of its neighbours, and so
    many numbers.
)");
    bind_array<Net, &Net::order>(net, "order", "The variables that are drawn, in this order.");
    net.def(
        "__reduce__",
        [](nb::handle_t<Net> self) {
            const Net &of = nb::cast<const Net &>(self);
            return nb::make_tuple(self.type(), nb::make_tuple(view_of(of.sizes, self), view_of(of.member_at, self),
                                                              view_of(of.member, self), view_of(of.fixed, self),
                                                              view_of(of.order, self), of.most_configurations,
                                                              of.most_cuts));
        },
        nb::sig("def __reduce__(self) -> tuple[object, ...]"));
}

void bind_cuts(nb::module_ &m) {
    nb::class_<Cuts> cuts(m, "Cuts", "The conditional distribution functions of a net, or what they are made from.");
    cuts.def(nb::init<std::shared_ptr<const Net>, const InFloats &>(), nb::arg("net"), nb::arg("theta").noconvert(),
             WithoutLock(), "From the logarithms of all tables, flat.");
    cuts.def(nb::init<std::shared_ptr<const Net>, const InInts &, const In<Word, 1> &, const In<Cut, 1> &,
                      const InFloats &, const InFloats &>(),
             nb::arg("net"), nb::arg("way").noconvert(), nb::arg("upper").noconvert(), nb::arg("whole").noconvert(),
             nb::arg("field").noconvert(), nb::arg("coupling").noconvert(), WithoutLock(), "From all attributes.");
    bind_array<Cuts, &Cuts::way>(cuts, "way", "How each variable is drawn: TABLE, PAIR or ANY.");
    bind_array<Cuts, &Cuts::upper>(cuts, "upper", "The upper 32 bits of every cut, 2**32 - 1 instead of 2**32.");
    bind_array<Cuts, &Cuts::whole>(cuts, "whole", "Every cut, of 53 bits.");
    bind_array<Cuts, &Cuts::field>(cuts, "field", "log p(1)/p(0) when all neighbours are in state 0; PAIR only.");
    bind_array<Cuts, &Cuts::coupling>(cuts, "coupling", "What each neighbour in state 1 adds to the field.");
    cuts.def(
        "__reduce__",
        [](nb::handle_t<Cuts> self) {
            const Cuts &of = nb::cast<const Cuts &>(self);
            return nb::make_tuple(self.type(),
                                  nb::make_tuple(std::const_pointer_cast<Net>(of.net), view_of(of.way, self),
                                                 view_of(of.upper, self), view_of(of.whole, self),
                                                 view_of(of.field, self), view_of(of.coupling, self)));
        },
        nb::sig("def __reduce__(self) -> tuple[object, ...]"));
}

template <typename Code>
void bind_sweeps(nb::module_ &m) {
    m.def("run_sweeps", &run_sweeps<Code>, nb::arg("cuts"), nb::arg("theta").noconvert(), nb::arg("states").noconvert(),
          nb::arg("chain"), nb::arg("first"), nb::arg("sweeps"), nb::arg("key"),
          nb::arg("visits").noconvert().none() = nb::none(), WithoutLock(),
          R"(Sweep some chains, in place.

Parameters
----------
cuts : Cuts
theta : array, shape (n_cells,)
    The logarithms of all tables.
states : array, shape (n_chains, n_variables), uint8, uint16 or uint32
    Changed in place.
chain : int
    The number of the first of these chains, a multiple of four.
first : int
    The number of the first sweep.
sweeps : int
key : int
    64 bits.
visits : array, shape (n_chains, n_cells), optional
    Adds how often each chain was in each cell of each table after a sweep.
)");
}

}  // namespace

NB_MODULE(gibbs, m) {
    m.doc() = "Gibbs sampling in many chains at once, with counter-based random numbers.";
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    m.attr("TABLE") = TABLE;
    m.attr("PAIR") = PAIR;
    m.attr("ANY") = ANY;
    m.def("draw_words", &draw_words, nb::arg("words").noconvert(), nb::arg("chain"), nb::arg("sweep"),
          nb::arg("variable"), nb::arg("key"), nb::arg("lower"), WithoutLock(),
          "Write the random words of chains, the first of which is ``chain``, a multiple of four: the upper 32 bits of "
          "their numbers, or those from which the lower 21 bits are taken.");
    bind_net(m);
    bind_cuts(m);
    bind_sweeps<std::uint8_t>(m);
    bind_sweeps<std::uint16_t>(m);
    bind_sweeps<std::uint32_t>(m);
}
