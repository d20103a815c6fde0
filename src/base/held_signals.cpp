#include "base/held_signals.hpp"

#include <initializer_list>

namespace gpuctl::base {

HeldSignals::HeldSignals() {
  const sigset_t held = set();
  held_ = ::pthread_sigmask(SIG_BLOCK, &held, &before_) == 0;
}

sigset_t HeldSignals::set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
  return set;
}

void HeldSignals::release() {
  if (held_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  held_ = false;
}

}  // namespace gpuctl::base
