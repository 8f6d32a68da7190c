// Two levels of instructions, chosen once when a module is imported: what every processor has, and AVX2.
//
// A kernel that gains from AVX2 is written once, with SUFFICE_INLINE on it and on the helpers that hold its loops, and
// called as `levels::run<kernel>(arguments…)`: it is compiled for both levels. AVX2 does not imply fused multiplication and
// addition, so that both levels return the same bits. SUFFICE_NATIVE_LEVEL=baseline, in the environment, refuses AVX2.
#pragma once

#include <cstdlib>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#define SUFFICE_HAS_LEVELS 1
#define SUFFICE_INLINE inline __attribute__((always_inline))
#define SUFFICE_AVX2 __attribute__((target("avx2,popcnt")))
#define SUFFICE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vpopcntdq,popcnt")))
#else
#define SUFFICE_HAS_LEVELS 0
#define SUFFICE_INLINE inline
#endif

namespace suffice::levels {

// Whether the processor and the operating system know AVX2, and nobody refuses it.
inline bool choose_avx2() {
#if SUFFICE_HAS_LEVELS
    const char *wanted = std::getenv("SUFFICE_NATIVE_LEVEL");
    if (wanted != nullptr && std::strcmp(wanted, "baseline") == 0) return false;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
    const unsigned needed = bit_POPCNT | bit_OSXSAVE | bit_AVX;
    if ((c & needed) != needed) return false;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6u) != 6u) return false;  // registers that the operating system keeps
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2) != 0;
#else
    return false;
#endif
}

// What the processor says of AVX-512, two words of bits; zeros where the system does not keep its registers, or
// SUFFICE_NATIVE_LEVEL=avx2 refuses it. Not __builtin_cpu_supports: modules that zig links do not find what it reads.
struct Avx512 {
    unsigned b = 0, c = 0;
};

inline Avx512 find_avx512() {
    Avx512 found;
#if SUFFICE_HAS_LEVELS
    const char *wanted = std::getenv("SUFFICE_NATIVE_LEVEL");
    if (!choose_avx2() || (wanted != nullptr && std::strcmp(wanted, "avx2") == 0)) return found;
    unsigned a = 0, d = 0, low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 0xE6u) == 0xE6u) __get_cpuid_count(7, 0, &a, &found.b, &found.c, &d);
#endif
    return found;
}

// Whether AVX-512 is known, with its instruction that counts bits; the counting by bit masks has this third level.
inline bool choose_avx512() {
#if SUFFICE_HAS_LEVELS
    const unsigned needed = bit_AVX512F | bit_AVX512BW;
    const Avx512 found = find_avx512();
    return (found.b & needed) == needed && (found.c & bit_AVX512VPOPCNTDQ) != 0;
#else
    return false;
#endif
}

inline const bool has_avx2 = choose_avx2();
inline const bool has_avx512 = choose_avx512();

inline const char *name() { return has_avx2 ? "avx2" : "baseline"; }

#if SUFFICE_HAS_LEVELS
template <auto kernel, typename... Arguments>
SUFFICE_AVX2 auto run_avx2(Arguments... arguments) {
    return kernel(arguments...);
}
#endif

// Call a kernel at the level that was chosen. Arguments are numbers, pointers and structs of these.
template <auto kernel, typename... Arguments>
auto run(Arguments... arguments) {
#if SUFFICE_HAS_LEVELS
    if (has_avx2) return run_avx2<kernel>(arguments...);
#endif
    return kernel(arguments...);
}

}  // namespace suffice::levels
