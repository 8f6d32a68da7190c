// Drawing sequences from a Markov chain: one symbol after the other, each from the row of the symbols before it.
//
// The key of a context is its symbols' codes as the digits of one number, the newest last. A context without a row of
// its own has the last row.
#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace suffice {

using Int = std::int64_t;

using Uniform = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::device::cpu>;
template <typename T>
using Drawn = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::device::cpu>;

constexpr Int TOGETHER = 8;  // sequences that are drawn side by side: none waits for the others' steps

struct Chain {
    const double *steps;  // the distribution function of every row, state by state
    Int n_states, n_rows;
    const Int *stored;
    Int n_stored;
    Int wrap;

    Int find_row(Int key) const {
        if (n_stored == 0) return key;
        const Int *at = stored;  // std::lower_bound without jumps, which could not be foreseen
        for (Int n = n_stored; n > 1;) {
            const Int half = n / 2;
            at += -static_cast<Int>(at[half - 1] < key) & half;
            n -= half;
        }
        return *at == key ? at - stored : n_rows - 1;
    }

    // The state that a uniform number between 0 and 1 leads to; −1 where the row is unknown.
    Int draw(Int row, double uniform) const {
        if (std::isnan(steps[(n_states - 1) * n_rows + row])) return -1;
        Int state = 0;
        for (Int s = 0; s < n_states - 1; ++s) state += uniform >= steps[s * n_rows + row];
        return state;
    }
};

// Draw the next symbols of several sequences. Twin: walk_by_steps in tests/native/test_markov_walks.py.
template <typename T>
Int walk(const In<double, 2> &steps, const InInts &stored, Int wrap, const OutInts &keys, const Uniform &uniform,
         const Drawn<T> &out) {
    const Chain chain{steps.data(),  static_cast<Int>(steps.shape(0)), static_cast<Int>(steps.shape(1)),
                      stored.data(), static_cast<Int>(stored.shape(0)), wrap};
    const Int n_steps = uniform.shape(0), n_sequences = uniform.shape(1);
    require(chain.n_states > 0 && chain.n_rows > 0, "steps has at least one state and one row");
    require(chain.n_states - 1 <= std::numeric_limits<T>::max(), "the type of out is too short for the states");
    require(0 < wrap && wrap <= std::numeric_limits<Int>::max() / chain.n_states, "wrap does not fit the states");
    const Int n_keys = wrap * chain.n_states;
    require(chain.n_stored > 0 ? chain.n_stored <= chain.n_rows : n_keys == chain.n_rows,
            "steps has a row for each context that is stored, or for all of them");
    require_length(keys, n_sequences, "keys");
    require_range(keys.data(), n_sequences, 0, n_keys, "keys");
    require_shape(out, {n_sequences, n_steps}, "out");
    for (Int first = 0; first < n_sequences; first += TOGETHER) {
        const Int n = std::min(TOGETHER, n_sequences - first);
        bool is_stuck[TOGETHER] = {};
        for (Int t = 0; t < n_steps; ++t)
            for (Int j = first; j < first + n; ++j) {
                if (is_stuck[j - first]) continue;
                Int &key = keys.data()[j];
                const double chance = uniform.data()[t * uniform.stride(0) + j * uniform.stride(1)];
                const Int state = chain.draw(chain.find_row(key), chance);
                if (state < 0) {
                    is_stuck[j - first] = true;
                    continue;
                }
                out.data()[j * out.stride(0) + t * out.stride(1)] = static_cast<T>(state);
                key = wrap == 1 ? state : key % wrap * chain.n_states + state;
            }
        for (Int j = 0; j < n; ++j)
            if (is_stuck[j]) return first + j;
    }
    return -1;
}

}  // namespace suffice

namespace {

using namespace suffice;

template <typename T>
void bind(nb::module_ &m) {
    m.def("walk", &walk<T>, nb::arg("steps").noconvert(), nb::arg("stored").noconvert(), nb::arg("wrap"),
          nb::arg("keys").noconvert(), nb::arg("uniform").noconvert(), nb::arg("out").noconvert(), WithoutLock(),
          R"(Draw the next symbols of several sequences; return the first sequence whose row is unknown, or −1.

Parameters
----------
steps : array, shape (n_states, n_rows)
    The distribution function of every row, state by state.
stored : array of int64, shape (n_stored,)
    The contexts that have rows, as rising keys; empty when all of them do, and the key is the row.
wrap : int
    n_states to the power of the order less one: what is left of a key when its oldest symbol goes.
keys : array of int64, shape (n_sequences,)
    The context of each sequence; changed in place.
uniform : array of float64, shape (n_steps, n_sequences)
    Any strides.
out : array of int8, int16 or int32, shape (n_sequences, n_steps)
    The drawn codes; any strides.)");
}

}  // namespace

NB_MODULE(markov_walks, m) {
    m.doc() = "Drawing sequences from a Markov chain.";
    bind<std::int8_t>(m);
    bind<std::int16_t>(m);
    bind<std::int32_t>(m);
}
