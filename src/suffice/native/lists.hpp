// Lists of whole numbers, one after another in one array.
#pragma once

#include <cstdint>

#include "arrays.hpp"

namespace suffice {

// The range of list i is at[i] to at[i + 1].
struct Lists {
    const std::int64_t *at, *values;
    std::int64_t n;

    std::int64_t begin(std::int64_t i) const { return at[i]; }
    std::int64_t end(std::int64_t i) const { return at[i + 1]; }
    std::int64_t size(std::int64_t i) const { return at[i + 1] - at[i]; }
};

// Return lists whose offsets were checked.
inline Lists lists_of(const InInts &at, const InInts &values, const char *at_name) {
    require_room(at, 1, at_name);
    const std::int64_t n = static_cast<std::int64_t>(at.size()) - 1;
    require_offsets(at, n, values.size(), at_name);
    return {at.data(), values.data(), n};
}

// Return lists whose offsets were checked, and whose values are indices below `limit`.
inline Lists lists_of_indices(const InInts &at, const InInts &values, std::int64_t limit, const char *at_name,
                              const char *name) {
    require_range(values.data(), values.size(), 0, limit, name);
    return lists_of(at, values, at_name);
}

}  // namespace suffice
