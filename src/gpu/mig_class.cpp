// Faults of a class, and its profiles in order.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "gpu/mig.hpp"

namespace gpuctl::gpu {
namespace {

std::string profile_fault(const MigClass& gpu, const MigProfile& profile) {
  if (profile.name.empty()) return "has no name";
  if (profile.units < 1 || profile.units > gpu.units) return "has an impossible number of units";
  if (profile.slices < 0 || profile.slices > gpu.slices) {
    return "has an impossible number of compute slices";
  }
  if (profile.most < 1 || profile.most > kMostUnits) return "has an impossible highest count";
  if (profile.starts.empty()) return "has no start";
  for (const int start : profile.starts) {
    if (start < 0 || start + profile.units > gpu.units) {
      return "start " + std::to_string(start) + " is outside";
    }
    if (std::count(profile.starts.begin(), profile.starts.end(), start) != 1) {
      return "start " + std::to_string(start) + " is given twice";
    }
  }
  for (const auto& [engine, count] : profile.media) {
    if (count < 0 || count > 1000) return "has an impossible number of `" + engine + "` engines";
  }
  return "";
}

}  // namespace

std::string fault_of(const MigClass& gpu) {
  if (gpu.units < 1 || gpu.units > kMostUnits) return "an impossible number of units";
  if (gpu.slices < 1 || gpu.slices > kMostUnits) return "an impossible number of compute slices";
  if (gpu.profiles.empty() || gpu.profiles.size() > kMostProfiles) {
    return "an impossible number of profiles";
  }
  std::set<std::string_view> names;
  for (const MigProfile& profile : gpu.profiles) {
    std::string fault = profile_fault(gpu, profile);
    if (fault.empty() && !names.insert(profile.name).second) fault = "is given twice";
    if (!fault.empty()) return "profile `" + profile.name + "`: " + fault;
  }
  return "";
}

std::string no_profile(const MigClass& gpu, const std::string& name) {
  const std::vector<std::string> near = base::nearest(name, list(gpu));
  return "has no profile `" + name + "`" +
         (near.empty() ? "" : ", did you mean `" + near.front() + "`?");
}

std::vector<std::string> list(const MigClass& gpu) {
  std::vector<const MigProfile*> profiles;
  for (const MigProfile& profile : gpu.profiles) profiles.push_back(&profile);
  std::stable_sort(profiles.begin(), profiles.end(), [](const auto* a, const auto* b) {
    return std::tie(a->slices, a->units) < std::tie(b->slices, b->units);
  });
  std::vector<std::string> names;
  names.reserve(profiles.size());
  for (const MigProfile* profile : profiles) names.push_back(profile->name);
  return names;
}

}  // namespace gpuctl::gpu
