// Codes of the diagnostics that expressions cause. This library reports Problems and EvalErrors;
// whoever knows where the expression stands turns them into diagnostics with these codes.
#pragma once

#include <string_view>

namespace gpuctl::cel {

inline constexpr std::string_view kDoesNotParse = "GPU0301";      // expression does not parse
inline constexpr std::string_view kDoesNotCheck = "GPU0302";      // expression does not type-check
inline constexpr std::string_view kEvaluationFailed = "GPU0303";  // evaluation failed
inline constexpr std::string_view kBudgetExhausted = "GPU0304";   // evaluation budget exhausted

}  // namespace gpuctl::cel
