// Objects of C libraries in smart pointers.
#pragma once

namespace gpuctl::base {

/// Deletes by a function: `std::unique_ptr<X509, base::FreedBy<X509_free>>`.
template <auto kFree>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace gpuctl::base
