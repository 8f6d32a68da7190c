// Counting many families of columns at once, over one tile of rows.
//
// A tile holds the codes of some columns, one column per row of the array. A family is a list of columns; its table is
// laid out in C order, the last column fastest, in a range of one flat buffer.
//
// Small tables are counted by bit masks: one mask per column and state, with one bit per row; a count is the number of
// bits that some masks share. The cost grows with the cells, so larger tables use a histogram, and tables too large to be
// held a hash table of the configurations that occur.
#include "arrays.hpp"
#include "levels.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#if SUFFICE_HAS_LEVELS
#include <immintrin.h>
#endif

namespace suffice {

using Int = std::int64_t;
using Word = std::uint64_t;
using InWords = In<Word, 2>;

constexpr Int BLOCK_ROWS = 4096;    // cells of so many rows stay in the first cache
constexpr Int COPIED_CELLS = 2048;  // histograms up to this size are counted in two copies
constexpr Int MOST_LAGS = 3;
constexpr Int MOST_CELLS = std::numeric_limits<std::int32_t>::max();

// Families ------------------------------------------------------------------------------------------------------------

// Which columns the families have, and where their tables lie: one after the other in a flat buffer.
class Families {
  public:
    Families(const InInts &members, const InInts &starts, const InInts &sizes)
        : members(members.data(), members.data() + members.shape(0)),
          starts(starts.data(), starts.data() + starts.shape(0)),
          sizes(sizes.data(), sizes.data() + sizes.shape(0)) {
        require(starts.shape(0) > 0, "starts has one entry more than there are families");
        require_offsets(starts, n_families(), members.shape(0), "starts");
        require_range(members.data(), members.shape(0), 0, n_columns(), "members");
        require_range(sizes.data(), n_columns(), 0, MOST_CELLS, "sizes");
        first_masks.assign(1, 0);
        for (const Int size : this->sizes) first_masks.push_back(first_masks.back() + size);
        offsets.assign(1, 0);
        for (Int f = 0; f < n_families(); ++f) {
            require(n_members(f) > 0, "each family has at least one column");
            Int cells = 1;
            for (Int j = 0; j < n_members(f); ++j) {
                cells *= n_states(f, j);
                require(cells <= MOST_CELLS, "a family has too many cells for a full table");
            }
            offsets.push_back(offsets.back() + cells);
            most_cells = std::max(most_cells, cells);
            most_members = std::max(most_members, n_members(f));
        }
    }

    Int n_families() const { return static_cast<Int>(starts.size()) - 1; }
    Int n_columns() const { return static_cast<Int>(sizes.size()); }
    Int n_masks() const { return first_masks.back(); }
    Int n_cells() const { return offsets.back(); }
    Int n_members(Int f) const { return starts[f + 1] - starts[f]; }
    Int member(Int f, Int j) const { return members[starts[f] + j]; }
    Int n_states(Int f, Int j) const { return sizes[member(f, j)]; }

    std::vector<Int> members, starts, sizes, offsets, first_masks;
    Int most_cells = 0, most_members = 0;
};

// The largest code as an unsigned number; codes below zero are the largest of all.
template <typename T>
SUFFICE_INLINE std::make_unsigned_t<T> find_largest(const T *codes, Int n) {
    std::make_unsigned_t<T> largest = 0;
    for (Int i = 0; i < n; ++i) largest = std::max(largest, static_cast<std::make_unsigned_t<T>>(codes[i]));
    return largest;
}

// Raise an IndexError unless the codes of all columns lie within their states.
template <typename T>
void require_codes(const Families &families, const In<T, 2> &tile, Int n_rows) {
    require_length(tile, families.n_columns(), "tile");
    const Int stored = tile.shape(1);
    require(0 <= n_rows && n_rows <= stored, "n_rows is at most the number of rows that the tile has");
    for (Int c = 0; c < families.n_columns() && n_rows > 0; ++c)
        if (static_cast<Int>(levels::run<find_largest<T>>(tile.data() + c * stored, n_rows)) >= families.sizes[c])
            throw std::out_of_range("Column " + std::to_string(c) + " of the tile has codes outside of 0 to " +
                                    std::to_string(families.sizes[c] - 1));
}

// Bit masks -----------------------------------------------------------------------------------------------------------

// What is done with two masks: count the bits of the first, those of both, or those of both while they are written.
enum class Take { first, shared, written };

namespace baseline {

// Count the bits of a word without an instruction for it, by steps that can be vectorised.
inline Int count_word(Word x) {
#if defined(__GNUC__) && !defined(__x86_64__)
    return __builtin_popcountll(x);
#else
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    x += x >> 8;
    x += x >> 16;
    return static_cast<Int>((x + (x >> 32)) & 0x7F);
#endif
}

template <Take take>
Int count_bits(const Word *a, const Word *b, Word *written, Int n) {
    Int total = 0;
    for (Int w = 0; w < n; ++w) {
        const Word x = take == Take::first ? a[w] : a[w] & b[w];
        if constexpr (take == Take::written) written[w] = x;
        total += count_word(x);
    }
    return total;
}

// Write the rows that have a state as bits, 64 rows per word. The first row is the lowest byte of the first eight.
inline void match_state(const std::int8_t *codes, Word state, Word *bits, Int n_words) {
    constexpr Word low = 0x7F7F7F7F7F7F7F7Fu, high = 0x8080808080808080u;
    for (Int w = 0; w < n_words; ++w) {
        Word found = 0;
        for (int b = 0; b < 8; ++b) {
            Word x;
            std::memcpy(&x, codes + 64 * w + 8 * b, 8);
            x ^= state * 0x0101010101010101u;
            const Word equal = ~(((x & low) + low) | x) & high;  // the high bit of every byte that is zero
            found |= (((equal >> 7) * 0x0102040810204080u) >> 56) << (8 * b);
        }
        bits[w] = found;
    }
}

}  // namespace baseline

#if SUFFICE_HAS_LEVELS
namespace avx2 {

SUFFICE_AVX2 SUFFICE_INLINE __m256i load(const void *at) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(at));
}

// A table of the 16 half bytes gives the bits of 32 bytes at once.
template <Take take>
SUFFICE_AVX2 Int count_bits(const Word *a, const Word *b, Word *written, Int n) {
    alignas(16) constexpr std::int8_t bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const __m256i table = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i *>(bits)));
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    const Int fours = n / 4 * 4;
    __m256i sums = zero;
    Int w = 0;
    while (w < fours) {
        __m256i bytes = zero;
        const Int end = std::min(fours, w + 4 * 16);  // 16 · 8 bits fit a byte
        for (; w < end; w += 4) {
            const __m256i x = take == Take::first ? load(a + w) : _mm256_and_si256(load(a + w), load(b + w));
            if constexpr (take == Take::written) _mm256_storeu_si256(reinterpret_cast<__m256i *>(written + w), x);
            const __m256i right = _mm256_shuffle_epi8(table, _mm256_and_si256(x, low));
            const __m256i left = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
            bytes = _mm256_add_epi8(bytes, _mm256_add_epi8(right, left));
        }
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, zero));
    }
    Int parts[4];
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(parts), sums);
    Int total = parts[0] + parts[1] + parts[2] + parts[3];
    for (; w < n; ++w) {
        const Word x = take == Take::first ? a[w] : a[w] & b[w];
        if constexpr (take == Take::written) written[w] = x;
        total += __builtin_popcountll(x);
    }
    return total;
}

SUFFICE_AVX2 inline void match_state(const std::int8_t *codes, Word state, Word *bits, Int n_words) {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(state));
    for (Int w = 0; w < n_words; ++w, codes += 64) {
        const int lower = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(codes), wanted));
        const int upper = _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(codes + 32), wanted));
        bits[w] = static_cast<Word>(static_cast<std::uint32_t>(upper)) << 32 | static_cast<std::uint32_t>(lower);
    }
}

}  // namespace avx2

namespace avx512 {

template <Take take>
SUFFICE_AVX512 Int count_bits(const Word *a, const Word *b, Word *written, Int n) {
    __m512i sums = _mm512_setzero_si512();
    for (Int w = 0; w < n; w += 8) {
        const auto some = static_cast<__mmask8>(n - w >= 8 ? 0xFF : (1 << (n - w)) - 1);
        __m512i x = _mm512_maskz_loadu_epi64(some, a + w);
        if constexpr (take != Take::first) x = _mm512_and_si512(x, _mm512_maskz_loadu_epi64(some, b + w));
        if constexpr (take == Take::written) _mm512_mask_storeu_epi64(written + w, some, x);
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(x));
    }
    Int parts[8], total = 0;
    _mm512_storeu_si512(parts, sums);
    for (const Int part : parts) total += part;
    return total;
}

SUFFICE_AVX512 inline void match_state(const std::int8_t *codes, Word state, Word *bits, Int n_words) {
    const __m512i wanted = _mm512_set1_epi8(static_cast<char>(state));
    for (Int w = 0; w < n_words; ++w) bits[w] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes + 64 * w), wanted);
}

}  // namespace avx512
#endif

// Count bits at the level that was chosen.
template <Take take>
Int count_bits(const Word *a, const Word *b, Word *written, Int n) {
#if SUFFICE_HAS_LEVELS
    if (levels::has_avx512) return avx512::count_bits<take>(a, b, written, n);
    if (levels::has_avx2) return avx2::count_bits<take>(a, b, written, n);
#endif
    return baseline::count_bits<take>(a, b, written, n);
}

inline void match_state(const std::int8_t *codes, Word state, Word *bits, Int n_words) {
#if SUFFICE_HAS_LEVELS
    if (levels::has_avx512) return avx512::match_state(codes, state, bits, n_words);
    if (levels::has_avx2) return avx2::match_state(codes, state, bits, n_words);
#endif
    baseline::match_state(codes, state, bits, n_words);
}

// Keep those rows of a mask that are left, and take them from what is left.
SUFFICE_INLINE void take_rows(Word *mask, Word *rest, Int n_words) {
    for (Int w = 0; w < n_words; ++w) {
        mask[w] &= rest[w];
        rest[w] ^= mask[w];
    }
}

// One bit mask per column and state. Twin: the loop over rows in tests/native/test_counting.py.
void build_masks(const Families &families, const In<std::int8_t, 2> &tile, Int n_rows, const Out<Word, 2> &masks) {
    const Int n_words = masks.shape(1), stored = tile.shape(1);
    require_length(masks, families.n_masks(), "masks");
    require(stored == 64 * n_words, "a tile has 64 rows per word of the masks");
    require_codes(families, tile, n_rows);
    for (Int c = 0; c < families.n_columns(); ++c) {
        const Int n_states = families.sizes[c];
        if (n_states == 0) continue;
        Word *own = masks.data() + families.first_masks[c] * n_words;
        Word *rest = own + (n_states - 1) * n_words;  // the last state has the rows that no other one has
        for (Int w = 0; w < n_words; ++w) {
            const Int left = n_rows - 64 * w;
            rest[w] = left >= 64 ? ~Word{0} : left > 0 ? ~Word{0} >> (64 - left) : 0;
        }
        for (Int s = 0; s < n_states - 1; ++s) {
            Word *mask = own + s * n_words;
            match_state(tile.data() + c * stored, static_cast<Word>(s), mask, n_words);
            levels::run<take_rows>(mask, rest, n_words);
        }
    }
}

// Counts of one family from the masks of its columns.
//
// Each variable has one of its states but the last, or any state: n(x, any) stands in the table's place of n(x, last), and
// needs no mask. Afterwards n(x, last) = n(x, any) − Σ_s n(x, s), one variable after the other. Single variables are
// counted once for all families, so that a table of two binary variables takes one more count of bits instead of four.
class MaskCounter {
  public:
    MaskCounter(const Families &families, const Word *masks, Int n_words, Int n_rows)
        : families(families), masks(masks), n_words(n_words), n_rows(n_rows), single(families.n_masks()),
          shared(std::max<Int>(families.most_members - 2, 0) * n_words), table(families.most_cells) {
        for (Int c = 0; c < families.n_columns(); ++c)
            for (Int m = families.first_masks[c]; m < families.first_masks[c + 1] - 1; ++m)
                single[m] = count_bits<Take::first>(masks + m * n_words, nullptr, nullptr, n_words);
    }

    void add_family(Int family, Int *out) {
        f = family;
        cell = table.data();
        const Int n_cells = families.offsets[f + 1] - families.offsets[f];
        if (n_cells == 0) return;
        count_below(0, n_cells, nullptr, n_rows);
        subtract_states(n_cells);
        for (Int i = 0; i < n_cells; ++i) out[i] += table[i];
    }

  private:
    // Count the configurations of the members from the j-th on among the `known` rows of a mask; without one, all rows.
    void count_below(Int j, Int n_cells, const Word *above, Int known) {
        const Int n_members = families.n_members(f);
        if (j == n_members || known == 0) {
            std::fill(cell, cell + n_cells, known);
            cell += n_cells;
            return;
        }
        const Int n_states = families.n_states(f, j), first = families.first_masks[families.member(f, j)];
        const Int below = n_cells / n_states;
        for (Int m = first; m < first + n_states - 1; ++m) {
            const Word *mask = masks + m * n_words;
            if (above == nullptr) {
                count_below(j + 1, below, mask, single[m]);
            } else if (j == n_members - 1) {
                *cell++ = count_bits<Take::shared>(above, mask, nullptr, n_words);
            } else {
                Word *both = shared.data() + (j - 1) * n_words;
                const Int n = count_bits<Take::written>(above, mask, both, n_words);
                count_below(j + 1, below, both, n);
            }
        }
        count_below(j + 1, below, above, known);
    }

    // Replace the counts of any state by those of the last one.
    void subtract_states(Int n_cells) {
        Int inner = 1;
        for (Int j = families.n_members(f) - 1; j >= 0; --j) {
            const Int n_states = families.n_states(f, j);
            for (Int start = 0; start < n_cells; start += n_states * inner) {
                Int *last = table.data() + start + (n_states - 1) * inner;
                for (const Int *row = table.data() + start; row < last; row += inner)
                    for (Int i = 0; i < inner; ++i) last[i] -= row[i];
            }
            inner *= n_states;
        }
    }

    const Families &families;
    const Word *masks;
    const Int n_words, n_rows;
    std::vector<Int> single;   // rows of each column's states but the last
    std::vector<Word> shared;  // rows of the configuration so far, by member
    std::vector<Int> table;
    Int f = 0;
    Int *cell = nullptr;
};

// Add the counts of all families. Twin: tests/naive.py, counts.
void count_masks(const Families &families, const InWords &masks, Int n_rows, const OutInts &out) {
    const Int n_words = masks.shape(1);
    require_length(masks, families.n_masks(), "masks");
    require_length(out, families.n_cells(), "out");
    require(0 <= n_rows && n_rows <= 64 * n_words, "n_rows is at most the number of bits of a mask");
    MaskCounter counter(families, masks.data(), n_words, n_rows);
    for (Int f = 0; f < families.n_families(); ++f) counter.add_family(f, out.data() + families.offsets[f]);
}

// Histograms ----------------------------------------------------------------------------------------------------------

constexpr int TOGETHER = 4;  // columns that are read in one pass

// Append the codes of k columns to the cells from `start` on, as digits of a mixed-radix number; before the first
// column there are none.
template <typename T, int k, bool first>
SUFFICE_INLINE void append_digits(const T *const *columns, const std::int32_t *sizes, std::int32_t *cells, Int start,
                                  Int n) {
    for (Int i = start; i < n; ++i) {
        std::int32_t cell = first ? 0 : cells[i];
        for (int j = 0; j < k; ++j) cell = cell * sizes[j] + columns[j][i];
        cells[i] = cell;
    }
}

#if SUFFICE_HAS_LEVELS
namespace avx2 {

SUFFICE_AVX2 SUFFICE_INLINE __m256i widen(const std::int8_t *at) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(at)));
}

SUFFICE_AVX2 SUFFICE_INLINE __m256i widen(const std::int32_t *at) { return load(at); }

template <typename T, int k, bool first>
SUFFICE_AVX2 void append_digits(const T *const *columns, const std::int32_t *sizes, std::int32_t *cells, Int n) {
    const T *column[k];
    __m256i size[k];
    for (int j = 0; j < k; ++j) {
        column[j] = columns[j];
        size[j] = _mm256_set1_epi32(sizes[j]);
    }
    Int i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i cell = first ? widen(column[0] + i) : load(cells + i);
        for (int j = first; j < k; ++j)
            cell = _mm256_add_epi32(_mm256_mullo_epi32(cell, size[j]), widen(column[j] + i));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(cells + i), cell);
    }
    suffice::append_digits<T, k, first>(columns, sizes, cells, i, n);
}

}  // namespace avx2
#endif

// Append at most four columns at the level that was chosen.
template <typename T, int k = TOGETHER>
void append_columns(const T *const *columns, const std::int32_t *sizes, Int n_columns, bool first, std::int32_t *cells,
                    Int n) {
    if constexpr (k > 1)
        if (n_columns < k) return append_columns<T, k - 1>(columns, sizes, n_columns, first, cells, n);
#if SUFFICE_HAS_LEVELS
    if (levels::has_avx2)
        return first ? avx2::append_digits<T, k, true>(columns, sizes, cells, n)
                     : avx2::append_digits<T, k, false>(columns, sizes, cells, n);
#endif
    first ? append_digits<T, k, true>(columns, sizes, cells, 0, n)
          : append_digits<T, k, false>(columns, sizes, cells, 0, n);
}

// Write the cells of a table in which rows lie, whose columns are given.
template <typename T>
void find_cells(const T *const *columns, const std::int32_t *sizes, Int n_columns, std::int32_t *cells, Int n) {
    for (Int j = 0; j < n_columns; j += TOGETHER)
        append_columns(columns + j, sizes + j, std::min<Int>(n_columns - j, TOGETHER), j == 0, cells, n);
}

// The cells of one family after the other, block by block of rows.
template <typename T>
class CellFinder {
  public:
    CellFinder(const Families &families, const In<T, 2> &tile, Int n_rows)
        : families(families), tile(tile.data()), stored(tile.shape(1)), columns(families.most_members),
          sizes(families.most_members), cells(std::min(n_rows, BLOCK_ROWS)) {}

    // Return the cells of n rows from a start on.
    const std::int32_t *find(Int f, Int start, Int n) {
        const Int n_members = families.n_members(f);
        for (Int j = 0; j < n_members; ++j) {
            columns[j] = tile + families.member(f, j) * stored + start;
            sizes[j] = static_cast<std::int32_t>(families.n_states(f, j));
        }
        find_cells(columns.data(), sizes.data(), n_members, cells.data(), n);
        return cells.data();
    }

  private:
    const Families &families;
    const T *tile;
    const Int stored;
    std::vector<const T *> columns;
    std::vector<std::int32_t> sizes, cells;
};

// A histogram that is added to a table. Rows take two copies by turns, unless these are large: equal neighbours need
// not wait for each other's sum.
class Histogram {
  public:
    explicit Histogram(Int most_cells) : second(std::min(most_cells, COPIED_CELLS)) {}

    void begin(Int *table, Int n_cells) {
        first = table;
        n_copied = n_cells <= COPIED_CELLS ? n_cells : 0;
        std::fill_n(second.data(), n_copied, 0);
    }

    void add(const std::int32_t *cells, Int n) {
        Int *const even = first, *const odd = n_copied > 0 ? second.data() : first;
        Int i = 0;
        for (; i + 4 <= n; i += 4) {
            ++even[cells[i]];
            ++odd[cells[i + 1]];
            ++even[cells[i + 2]];
            ++odd[cells[i + 3]];
        }
        for (; i < n; ++i) ++even[cells[i]];
    }

    void end() {
        for (Int c = 0; c < n_copied; ++c) first[c] += second[c];
    }

  private:
    std::vector<Int> second;
    Int *first = nullptr;
    Int n_copied = 0;
};

// Add the counts of all families, one histogram each. Twin: tests/naive.py, counts.
template <typename T>
void count_histogram(const Families &families, const In<T, 2> &tile, Int n_rows, const OutInts &out) {
    require_length(out, families.n_cells(), "out");
    require_codes(families, tile, n_rows);
    CellFinder<T> finder(families, tile, n_rows);
    Histogram histogram(families.most_cells);
    for (Int f = 0; f < families.n_families(); ++f) {
        histogram.begin(out.data() + families.offsets[f], families.offsets[f + 1] - families.offsets[f]);
        for (Int start = 0; start < n_rows; start += BLOCK_ROWS) {
            const Int n = std::min(n_rows - start, BLOCK_ROWS);
            histogram.add(finder.find(f, start, n), n);
        }
        histogram.end();
    }
}

// Add the weights of all families' configurations, in the order of the rows. Twin: tests/naive.py, counts.
template <typename T, typename W>
void count_weighted(const Families &families, const In<T, 2> &tile, const In<W, 1> &weights, const Out<W, 1> &out) {
    const Int n_rows = weights.shape(0);
    require_length(out, families.n_cells(), "out");
    require_codes(families, tile, n_rows);
    CellFinder<T> finder(families, tile, n_rows);
    for (Int f = 0; f < families.n_families(); ++f) {
        W *table = out.data() + families.offsets[f];
        for (Int start = 0; start < n_rows; start += BLOCK_ROWS) {
            const Int n = std::min(n_rows - start, BLOCK_ROWS);
            const std::int32_t *cells = finder.find(f, start, n);
            const W *weight = weights.data() + start;
            for (Int i = 0; i < n; ++i) table[cells[i]] += weight[i];
        }
    }
}

// Windows of sequences ------------------------------------------------------------------------------------------------

// The cell of a symbol and the symbols before it. These are digits from 1 on, since 0 is the time before the start.
inline std::int32_t find_window(const std::int8_t *symbol, Int order, std::int32_t n_states) {
    std::int32_t cell = 0;
    for (Int back = order; back > 0; --back) cell = cell * (n_states + 1) + symbol[-back] + 1;
    return cell * n_states + symbol[0];
}

// Count all windows that have their predecessors, as if all were one sequence.
void count_inner_windows(const std::int8_t *values, Int n, Int order, std::int32_t n_states, Int *out, Int n_cells) {
    constexpr std::int8_t zeros[MOST_LAGS + 1] = {};
    const std::int32_t first = find_window(zeros + order, order, n_states);  // predecessors are digits from 1 on
    std::vector<std::int32_t> cells(std::min(n, BLOCK_ROWS));
    Histogram histogram(n_cells);
    histogram.begin(out + first, n_cells - first);
    for (Int start = order; start < n; start += BLOCK_ROWS) {
        const Int size = std::min(n - start, BLOCK_ROWS);
        const std::int8_t *columns[MOST_LAGS + 1];
        std::int32_t sizes[MOST_LAGS + 1];
        for (Int j = 0; j <= order; ++j) {
            columns[j] = values + start - order + j;
            sizes[j] = j < order ? n_states + 1 : n_states;
        }
        find_cells(columns, sizes, order + 1, cells.data(), size);
        histogram.add(cells.data(), size);
    }
    histogram.end();
}

// Move the first windows of every sequence to where they belong.
void move_first_windows(const std::int8_t *values, Int n, const InInts &starts, const std::int8_t *before, Int order,
                        std::int32_t n_states, Int *out) {
    std::int8_t window[2 * MOST_LAGS];  // the predecessors of the first symbol, as codes or −1, and the first symbols
    for (Int j = 0; j < order; ++j) window[j] = static_cast<std::int8_t>(before[j] - 1);
    const Int n_starts = starts.shape(0);
    for (Int s = 0, low = 0; s <= n_starts; ++s) {
        const Int high = s < n_starts ? starts.data()[s] : n;
        for (Int i = low; i < std::min(low + order, high); ++i) {
            window[order + i - low] = values[i];
            if (i >= order) --out[find_window(values + i, order, n_states)];
            ++out[find_window(window + order + i - low, order, n_states)];
        }
        std::fill_n(window, order, static_cast<std::int8_t>(-1));
        low = high;
    }
}

// Add the counts of every position with its one to three predecessors. Twin: naive in tests/native/test_windows.py.
void count_windows(const In<std::int8_t, 1> &values, const InInts &starts, const In<std::int8_t, 1> &before,
                   Int n_states, const OutInts &out) {
    const Int n = values.shape(0), order = before.shape(0);
    require(1 <= order && order <= MOST_LAGS, "windows have one to three predecessors");
    require(0 <= n_states && n_states < 127, "windows have at most 126 states");
    Int n_cells = n_states;
    for (Int j = 0; j < order; ++j) n_cells *= n_states + 1;
    require_length(out, n_cells, "out");
    require_apart(starts, out, "starts and out");
    require_range(before.data(), order, 0, n_states + 1, "before");
    if (n > 0 && levels::run<find_largest<std::int8_t>>(values.data(), n) >= n_states)
        throw std::out_of_range("values has codes outside of 0 to " + std::to_string(n_states - 1));
    bool rising = true;
    for (std::size_t s = 0; s < starts.shape(0); ++s)
        rising &= starts.data()[s] <= n && starts.data()[s] >= (s > 0 ? starts.data()[s - 1] : 0);
    if (!rising) throw std::out_of_range("starts must rise from 0 to at most " + std::to_string(n));
    const auto size = static_cast<std::int32_t>(n_states);
    count_inner_windows(values.data(), n, order, size, out.data(), n_cells);
    move_first_windows(values.data(), n, starts, before.data(), order, size, out.data());
}

// Hash tables ---------------------------------------------------------------------------------------------------------

// Say that a condition seldom holds, so that what follows it is moved out of the way.
inline bool is_rare(bool condition) {
#if defined(__GNUC__)
    return __builtin_expect(condition, 0);
#else
    return condition;
#endif
}

// Sums of weights by key: a hash table with open addressing, at most half of whose slots are used.
template <typename W>
class Sums {
  public:
    struct Slot {
        Int key = -1;  // −1 where the slot is free
        W sum = 0;
    };

    Sums() : slots(1 << 12) {}

    // Add the weights of keys in their order, or one each without weights.
    void add(const Int *keys, const W *weights, Int n) {
        for (Int start = 0; start < n; start += GROUP) {
            const Int size = std::min(GROUP, n - start);
            if (n_used + size > static_cast<Int>(slots.size() / 2)) enlarge();
            const Int *own = keys + start;
            if (weights == nullptr)
                add_group(size, [=](Int i) { return Slot{own[i], 1}; });
            else
                add_group(size, [=](Int i) { return Slot{own[i], weights[start + i]}; });
        }
    }

    Int size() const { return n_used; }

    // Call write(n, slot) for the n-th slot that is used. Whether one is used cannot be foreseen, so that none is skipped:
    // what a free slot wrote is overwritten by the next one, and there has to be room for one more than is held.
    template <typename Write>
    void list(Write write) const {
        Int n = 0;
        for (const Slot &slot : slots) {
            write(n, slot);
            n += slot.key >= 0;
        }
    }

  private:
    static constexpr Int GROUP = 128;              // keys whose slots are fetched from memory together
    static constexpr std::size_t LARGE = 1 << 15;  // tables from this size on do not fit a fast cache

    Word find_start(Int key) const {
        const Word mixed = static_cast<Word>(key) * 0x9E3779B97F4A7C15u;
        return (mixed ^ (mixed >> 32)) & (slots.size() - 1);
    }

    template <typename Get>
    void add_group(Int n, Get get) {
        Slot *const table = slots.data();
        const Word mask = slots.size() - 1;
#if defined(__GNUC__)
        if (slots.size() >= LARGE)
            for (Int i = 0; i < n; ++i) __builtin_prefetch(table + find_start(get(i).key), 1);
#endif
        Int n_new = 0, signs = 0;
        for (Int i = 0; i < n; ++i) {
            const Slot added = get(i);
            signs |= added.key;
            Word at = find_start(added.key);
            if (is_rare(table[at].key != added.key)) {  // most keys are where they belong; that path has no jumps
                while (table[at].key != added.key && table[at].key >= 0) at = (at + 1) & mask;
                n_new += table[at].key < 0;
                table[at].key = added.key;
            }
            table[at].sum += added.sum;
        }
        n_used += n_new;
        if (signs < 0) throw std::out_of_range("keys must not be negative");
    }

    void enlarge() {
        std::vector<Slot> held(n_used + 1);
        list([&](Int n, const Slot &slot) { held[n] = slot; });
        const Int n = n_used;
        slots.assign(4 * slots.size(), Slot{});
        n_used = 0;
        for (Int start = 0; start < n; start += GROUP)
            add_group(std::min(GROUP, n - start), [&](Int i) { return held[start + i]; });
    }

    std::vector<Slot> slots;
    Int n_used = 0;
};

template <typename T>
using Given = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hand the first n entries of an array over to Python.
template <typename T>
Given<T> give(std::unique_ptr<T[]> values, Int n) {
    T *data = values.get();
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    values.release();
    return Given<T>(data, {static_cast<std::size_t>(n)}, owner);
}

// The distinct keys in any order, and the sums of their weights. Twin: np.unique and np.add.at in
// tests/native/test_counting.py.
template <typename W>
std::pair<Given<Int>, Given<W>> sum_by_key(const InInts &keys, const W *weights) {
    std::unique_ptr<Int[]> found;
    std::unique_ptr<W[]> sums;
    Int n_found = 0;
    {
        const nb::gil_scoped_release without_lock;
        Sums<W> table;
        table.add(keys.data(), weights, keys.shape(0));
        n_found = table.size();
        found.reset(new Int[n_found + 1]);
        sums.reset(new W[n_found + 1]);
        table.list([&](Int at, const auto &slot) {
            found[at] = slot.key;
            sums[at] = slot.sum;
        });
    }
    return {give(std::move(found), n_found), give(std::move(sums), n_found)};
}

std::pair<Given<Int>, Given<Int>> count_keys(const InInts &keys) { return sum_by_key<Int>(keys, nullptr); }

template <typename W>
std::pair<Given<Int>, Given<W>> count_weighted_keys(const InInts &keys, const In<W, 1> &weights) {
    require_length(weights, keys.shape(0), "weights");
    return sum_by_key<W>(keys, weights.data());
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
void bind_tiles(nb::module_ &m) {
    m.def("count_histogram", &count_histogram<T>, nb::arg("families"), nb::arg("tile").noconvert(), nb::arg("n_rows"),
          nb::arg("out").noconvert(), WithoutLock(),
          R"(Add the counts of all families to ``out``, by one histogram per family.

Parameters
----------
families : Families
tile : array of int8 or int32, shape (n_columns, at least n_rows)
    Codes, within the states of their columns.
n_rows : int
    Rows of the tile that count.
out : array of int64, shape (n_cells,)
    The tables of all families, one after the other.)");
}

template <typename T, typename W>
void bind_weighted(nb::module_ &m) {
    m.def("count_weighted", &count_weighted<T, W>, nb::arg("families"), nb::arg("tile").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          R"(Add the weights of all families' configurations to ``out``, in the order of the rows.

Parameters
----------
families : Families
tile : array of int8 or int32, shape (n_columns, at least n_rows)
    Codes, within the states of their columns.
weights : array of int64 or float64, shape (n_rows,)
out : array of the same type, shape (n_cells,)
    The tables of all families, one after the other.)");
}

void bind_masks(nb::module_ &m) {
    m.def("build_masks", &build_masks, nb::arg("families"), nb::arg("tile").noconvert(), nb::arg("n_rows"),
          nb::arg("masks").noconvert(), WithoutLock(),
          R"(Fill one bit mask per column and state.

Parameters
----------
families : Families
tile : array of int8, shape (n_columns, 64 · n_words)
    Codes, within the states of their columns.
n_rows : int
    Rows of the tile that count.
masks : array of uint64, shape (n_masks, n_words)
    Output: the masks of all states of the first column, of the second, and so on. Bit i of word w is row 64 w + i.)");
    m.def("count_masks", &count_masks, nb::arg("families"), nb::arg("masks").noconvert(), nb::arg("n_rows"),
          nb::arg("out").noconvert(), WithoutLock(),
          R"(Add the counts of all families to ``out``, from the masks of their columns.

Parameters
----------
families : Families
masks : array of uint64, shape (n_masks, n_words)
    As `build_masks` fills them for the same families and rows.
n_rows : int
out : array of int64, shape (n_cells,)
    The tables of all families, one after the other.)");
}

void bind_keys(nb::module_ &m) {
    const char *doc = R"(Return the distinct keys, in any order, and the sum of the weights of each.

Parameters
----------
keys : array of int64, shape (n,)
    Not negative.
weights : array of int64 or float64, shape (n,), optional
    One each unless given; added in their order.)";
    m.def("count_keys", &count_keys, nb::arg("keys").noconvert(), doc);
    m.def("count_keys", &count_weighted_keys<Int>, nb::arg("keys").noconvert(), nb::arg("weights").noconvert(), doc);
    m.def("count_keys", &count_weighted_keys<double>, nb::arg("keys").noconvert(), nb::arg("weights").noconvert(), doc);
}

}  // namespace

NB_MODULE(counting, m) {
    nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no fault
    m.doc() = "Counting many families of columns at once, over one tile of rows.";
    m.def("level", [] { return levels::has_avx512 ? "avx512" : levels::name(); },
          "Return the level of instructions that was chosen: ``baseline``, ``avx2`` or ``avx512``.");
    nb::class_<Families>(m, "Families", R"(Which columns the families have; their tables lie one after the other.

Parameters
----------
members : array of int64
    The columns of all families, one family after the other.
starts : array of int64, shape (n_families + 1,)
    Where each family begins in ``members``.
sizes : array of int64, shape (n_columns,)
    Numbers of states.)")
        .def(nb::init<const InInts &, const InInts &, const InInts &>(), nb::arg("members").noconvert(),
             nb::arg("starts").noconvert(), nb::arg("sizes").noconvert())
        .def_prop_ro("n_cells", &Families::n_cells, "Cells of all tables.")
        .def_prop_ro("n_masks", &Families::n_masks, "States of all columns.");
    bind_masks(m);
    bind_tiles<std::int8_t>(m);
    bind_tiles<std::int32_t>(m);
    bind_weighted<std::int8_t, Int>(m);
    bind_weighted<std::int8_t, double>(m);
    bind_weighted<std::int32_t, Int>(m);
    bind_weighted<std::int32_t, double>(m);
    m.def("count_windows", &count_windows, nb::arg("values").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("before").noconvert(), nb::arg("n_states"), nb::arg("out").noconvert(), WithoutLock(),
          R"(Add the counts of every position with its one to three predecessors to ``out``.

Parameters
----------
values : array of int8, shape (n,)
    Codes of sequences, one after the other.
starts : array of int64
    Where sequences begin; their first positions have the digit 0, the time before the start, as predecessors.
before : array of int8, shape (order,)
    The predecessors of the first position, the oldest first, as codes plus 1.
n_states : int
out : array of int64, shape ((n_states + 1)^order · n_states,))");
    bind_keys(m);
}
