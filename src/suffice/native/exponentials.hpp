// The exponential of many numbers of at most zero, in vector instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "levels.hpp"

namespace suffice {

// Replace so many numbers of at most zero by their exponentials.
//
// With x = q log 2 + r, and q whole, e^x is 2^q times a polynomial of r; adding 1.5 · 2^52 leaves q in the last bits of
// a float. Every line is a loop over all numbers, of which compilers make vector instructions that do not wait for each
// other.
template <int n>
SUFFICE_INLINE void exponentiate_block(double *__restrict x) {
    constexpr double SHIFT = 6755399441055744.0;
    // 1/12!, and so on down to 1/0!
    constexpr double FACTORS[13] = {2.08767569878681e-09,  2.505210838544172e-08, 2.755731922398589e-07,
                                    2.7557319223985893e-06, 2.48015873015873e-05,  0.0001984126984126984,
                                    0.001388888888888889,   0.008333333333333333,  0.041666666666666664,
                                    0.16666666666666666,    0.5,                   1.0,
                                    1.0};
    double shifted[n], r[n], power[n];
    for (int i = 0; i < n; ++i) r[i] = x[i] < -708.0 ? -708.0 : x[i];
    for (int i = 0; i < n; ++i) shifted[i] = r[i] * 1.4426950408889634 + SHIFT;
    for (int i = 0; i < n; ++i) {  // log 2 in two parts, the first of which has few digits: q times it is exact
        const double q = shifted[i] - SHIFT;
        r[i] = (r[i] - q * 0.6931471803691238) - q * 1.9082149292705877e-10;
    }
    for (int i = 0; i < n; ++i) power[i] = 1.6059043836821613e-10 * r[i] + FACTORS[0];  // from 1/13!
    for (int k = 1; k < 13; ++k)
        for (int i = 0; i < n; ++i) power[i] = power[i] * r[i] + FACTORS[k];
    for (int i = 0; i < n; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, &shifted[i], sizeof bits);
        bits = (bits + 1023) << 52;
        double scale;
        std::memcpy(&scale, &bits, sizeof scale);
        x[i] = power[i] * scale;
    }
}

// The same for fewer numbers than a block has.
template <int n>
SUFFICE_INLINE void exponentiate_part(double *x, std::int64_t size) {
    double block[n] = {};
    std::copy(x, x + size, block);
    exponentiate_block<n>(block);
    std::copy(block, block + size, x);
}

// Replace numbers of at most zero by their exponentials, to the last digit or the one before; e^−708 at least.
// Twin: np.exp in tests/native/test_label_chains.py.
SUFFICE_INLINE void exponentiate(double *x, std::int64_t n) {
    constexpr int LARGE = 48, SMALL = 24;  // loops of 16 and fewer are unrolled by gcc before it can vectorise them
    std::int64_t i = 0;
    for (; i + LARGE <= n; i += LARGE) exponentiate_block<LARGE>(x + i);
    if (n - i > SMALL)
        exponentiate_part<LARGE>(x + i, n - i);
    else if (n > i)
        exponentiate_part<SMALL>(x + i, n - i);
}

}  // namespace suffice
