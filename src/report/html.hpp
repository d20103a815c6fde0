// The report as one page of HTML: no script, nothing from elsewhere.
#pragma once

#include <string>

#include "report/model.hpp"

namespace gpuctl::report {

/// The page. Light or dark as the reader's system is, and fit to be printed; deterministic.
std::string html(const Page& page);

}  // namespace gpuctl::report
