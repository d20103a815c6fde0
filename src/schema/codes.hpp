// Codes of diagnostics about schemas and published CRDs.
#pragma once

#include <string_view>

namespace gpuctl::schema {

inline constexpr std::string_view kUnknownField = "GPU0201";   // a field the schema does not have
inline constexpr std::string_view kWrongType = "GPU0202";      // a string where a number belongs
inline constexpr std::string_view kMissingField = "GPU0203";   // a required field is absent
inline constexpr std::string_view kNotAllowed = "GPU0204";     // not one of the allowed values
inline constexpr std::string_view kOutOfBounds = "GPU0205";    // range, length, pattern or format
inline constexpr std::string_view kCombination = "GPU0206";    // oneOf, anyOf, not
inline constexpr std::string_view kDuplicate = "GPU0207";      // twice in a set or keyed list
inline constexpr std::string_view kRuleNotMet = "GPU0208";     // x-kubernetes-validations
inline constexpr std::string_view kNullValue = "GPU0209";      // null where null is not allowed
inline constexpr std::string_view kContradiction = "GPU0210";  // fragments that cannot be merged
inline constexpr std::string_view kFaultySchema = "GPU0211";   // the schema itself is wrong
inline constexpr std::string_view kNotChecked = "GPU0212";  // a part of the schema we cannot check
inline constexpr std::string_view kCrdDirectory = "GPU0220";  // CRD directory unreadable
inline constexpr std::string_view kNoCrd = "GPU0221";         // no CRD for a kind (used by callers)
inline constexpr std::string_view kCrdUnusable = "GPU0222";   // CRD file or version unusable

}  // namespace gpuctl::schema
