// Drawings in a page: SVG without a scale of its own, so that letters keep their size on narrow
// screens. `id` is unlike all others of the page.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "report/costs.hpp"
#include "report/markup.hpp"
#include "report/model.hpp"

namespace gpuctl::report {

/// A GPU: its memory slices with the instances that lie on them, and its compute slices. Lost ones
/// are hatched. Nothing for a layout that has no place.
void draw_layout(const Layout& layout, const std::string& id, Markup& out);

/// How a layout uses a GPU, in words: "compute slices: 7 used, 0 free, 0 lost; ...".
std::string words_of(const Layout& layout);

/// The instances of a layout: "3g.20gb at 0, 1g.5gb at 4".
std::string places_of(const Layout& layout);

/// Terms of support from the earliest day to the last, and the day of the report. Nothing when no
/// end is known.
void draw_timeline(const std::vector<Version>& versions, std::chrono::sys_days day,
                   const std::string& id, Markup& out);

/// The networks of a cluster, one below the other, with their ranges and pools.
void draw_networks(const Cluster& cluster, const std::string& id, Markup& out);

/// What each of `all` costs a month: bars to the minimum and on to the maximum, with a mark at a
/// typical month. Nothing when no amount is known.
void draw_costs(const std::vector<Priced>& all, const std::string& title, const cost::Hours& hours,
                const std::string& id, Markup& out);

/// Hundredths of a per cent as an attribute, without floating point, so that it is the same
/// everywhere: "12.34%".
std::string percent(long hundredths);

/// Lines that fit beside each other on the narrowest screen; words that are longer are cut.
std::vector<std::string> wrapped(const std::string& text);

/// Opens a drawing with a name and a description; close() ends it.
void open_drawing(const std::string& id, const std::string& title, const std::string& description,
                  int width, int height, Markup& out);

}  // namespace gpuctl::report
