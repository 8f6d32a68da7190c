// Counter-based random words, Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011).
//
// Products of 32 by 32 bits are what compilers turn into vector instructions badly below AVX-512, hence the version for
// AVX2. All versions write the same words.
#pragma once

#include "levels.hpp"

#include <cstdint>

#if SUFFICE_HAS_LEVELS
#include <immintrin.h>
#endif

namespace suffice::philox {

constexpr std::uint64_t WORD = 0xFFFFFFFF, ROUND_A = 0xD2511F53, ROUND_C = 0xCD9E8D57;
constexpr std::uint32_t STEP_K = 0x9E3779B9, STEP_M = 0xBB67AE85;

struct Counter {
    std::uint32_t first, b, c, d;
};

// Write 4 n words, those of the counters (first, b, c, d), (first + 1, b, c, d), … under a key.
SUFFICE_INLINE void write_plain(std::uint32_t *words, std::int64_t n, Counter counter, std::uint64_t key) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint64_t w = counter.first + static_cast<std::uint32_t>(i), x = counter.b, y = counter.c, z = counter.d;
        std::uint32_t k = static_cast<std::uint32_t>(key), m = static_cast<std::uint32_t>(key >> 32);
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t p = ROUND_A * w, q = ROUND_C * y;
            w = (q >> 32) ^ x ^ k;
            x = q & WORD;
            y = (p >> 32) ^ z ^ m;
            z = p & WORD;
            k += STEP_K;
            m += STEP_M;
        }
        words[4 * i] = static_cast<std::uint32_t>(w);
        words[4 * i + 1] = static_cast<std::uint32_t>(x);
        words[4 * i + 2] = static_cast<std::uint32_t>(y);
        words[4 * i + 3] = static_cast<std::uint32_t>(z);
    }
}

#if SUFFICE_HAS_LEVELS

__attribute__((target("avx512f,avx512dq,prefer-vector-width=512"))) inline void
write_avx512(std::uint32_t *words, std::int64_t n, Counter counter, std::uint64_t key) {
    write_plain(words, n, counter, key);
}

// Two vectors of four counters each, one per 64 bits, of which the lower 32 count.
SUFFICE_AVX2 inline void write_eight(std::uint32_t *words, Counter counter, std::uint64_t key) {
    const __m256i a = _mm256_set1_epi64x(ROUND_A), c = _mm256_set1_epi64x(ROUND_C);
    __m256i w[2], x[2], y[2], z[2];
    for (int j = 0; j < 2; ++j) {
        w[j] = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(counter.first + 4 * j)),
                                _mm256_set_epi64x(3, 2, 1, 0));
        x[j] = _mm256_set1_epi32(static_cast<int>(counter.b));
        y[j] = _mm256_set1_epi32(static_cast<int>(counter.c));
        z[j] = _mm256_set1_epi32(static_cast<int>(counter.d));
    }
    std::uint32_t k = static_cast<std::uint32_t>(key), m = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        for (int j = 0; j < 2; ++j) {
            const __m256i p = _mm256_mul_epu32(a, w[j]), q = _mm256_mul_epu32(c, y[j]);
            const __m256i xk = _mm256_xor_si256(x[j], _mm256_set1_epi32(static_cast<int>(k)));
            const __m256i zm = _mm256_xor_si256(z[j], _mm256_set1_epi32(static_cast<int>(m)));
            w[j] = _mm256_xor_si256(_mm256_srli_epi64(q, 32), xk);
            y[j] = _mm256_xor_si256(_mm256_srli_epi64(p, 32), zm);
            x[j] = q;
            z[j] = p;
        }
        k += STEP_K;
        m += STEP_M;
    }
    for (int j = 0; j < 2; ++j) {  // counters 0 and 2, 1 and 3, then in their order
        const __m256i wx = _mm256_blend_epi32(w[j], _mm256_slli_epi64(x[j], 32), 0xAA);
        const __m256i yz = _mm256_blend_epi32(y[j], _mm256_slli_epi64(z[j], 32), 0xAA);
        const __m256i even = _mm256_unpacklo_epi64(wx, yz), odd = _mm256_unpackhi_epi64(wx, yz);
        auto *to = reinterpret_cast<__m256i *>(words + 16 * j);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
}

SUFFICE_AVX2 inline void write_avx2(std::uint32_t *words, std::int64_t n, Counter counter, std::uint64_t key) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        write_eight(words + 4 * i, counter, key);
        counter.first += 8;
    }
    write_plain(words + 4 * i, n - i, counter, key);
}

// Whether the processor knows AVX-512, with the products of 64 bits.
inline bool choose_avx512() {
    const unsigned needed = bit_AVX512F | bit_AVX512DQ;
    return (levels::find_avx512().b & needed) == needed;
}

inline const bool has_avx512 = choose_avx512();

#endif

// Write 4 n words on the level of instructions that the processor has.
inline void write(std::uint32_t *words, std::int64_t n, Counter counter, std::uint64_t key) {
#if SUFFICE_HAS_LEVELS
    if (has_avx512) return write_avx512(words, n, counter, key);
    if (levels::has_avx2) return write_avx2(words, n, counter, key);
#endif
    write_plain(words, n, counter, key);
}

}  // namespace suffice::philox
