// Two levels of instructions for loops over long rows of numbers: AVX2 where the processor has it, else what every
// processor has. Both give the same bits, since products and sums are neither fused nor reordered.
//
//     SUFFICE_INLINE void add(double *to, const double *from, Int n) { … }
//     dispatch<&add>(to, from, n);
//
// All helpers of such a function must be SUFFICE_INLINE, too, and no lambdas: only what is inlined gets the instructions.
#pragma once

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SUFFICE_HAS_LEVELS 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SUFFICE_INLINE inline __attribute__((always_inline))
#else
#define SUFFICE_INLINE inline
#endif

namespace suffice {

#ifdef SUFFICE_HAS_LEVELS

inline const bool HAS_AVX2 = __builtin_cpu_supports("avx2");

template <auto function, typename... Arguments>
__attribute__((target("avx2"), noinline)) auto run_with_avx2(const Arguments &...arguments) {
    return function(arguments...);
}

template <auto function, typename... Arguments>
__attribute__((noinline)) auto run_anywhere(const Arguments &...arguments) {
    return function(arguments...);
}

// Call a SUFFICE_INLINE function on the level of instructions that the processor has.
template <auto function, typename... Arguments>
inline auto dispatch(const Arguments &...arguments) {
    return HAS_AVX2 ? run_with_avx2<function>(arguments...) : run_anywhere<function>(arguments...);
}

#else

template <auto function, typename... Arguments>
inline auto dispatch(const Arguments &...arguments) {
    return function(arguments...);
}

#endif

}  // namespace suffice
