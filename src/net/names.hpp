// Questions to name servers: those of the system, chosen ones, those of a zone itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/time.hpp"

namespace gpuctl::net {

enum class RecordType { a, aaaa, ns, ptr, soa };

/// "A", "AAAA", "NS", "PTR", "SOA"; nothing for another text.
std::optional<RecordType> record_type(const std::string& name);

/// What a name server said.
struct NameAnswer {
  enum class Status {
    found,    // `records` has some
    no_data,  // the name has none of this type
    no_name,  // NXDOMAIN
    refused,  // the server does not want to say, or fails
    silent,   // nobody answered in time
    failed,   // the question could not be put
  };
  Status status = Status::failed;
  std::vector<std::string> records;  // addresses or names without a dot at the end, sorted
  std::string why;                   // for `refused`, `silent` and `failed`

  /// The server has said what there is, be it nothing.
  bool told() const { return status <= Status::no_name; }
};

/// Asks for the records of one name. `server`: "ADDRESS" or "ADDRESS:PORT" (IPv6 in brackets), or
/// empty for those of the system. The hosts file does not count. A name is taken as it is, without
/// search domains.
NameAnswer ask_names(const std::string& name, RecordType type, const std::string& server,
                     Deadline deadline);

/// The name that has the PTR records of an address; empty when it is none.
std::string reverse_name(const std::string& address);

/// The zone that a name lies in, and addresses of its name servers.
struct Zone {
  std::string name;
  std::vector<std::string> servers;  // addresses, sorted; empty: none is known
  std::string why;                   // there is none: what went wrong
};

/// Finds the zone of a name: the nearest name above with NS records, as `server` (or the system's)
/// sees it.
Zone zone_of(const std::string& name, const std::string& server, Deadline deadline);

/// Addresses of a host for connections to it: from the hosts file, then name servers; an address
/// gives itself. Empty with `why`.
std::vector<std::string> addresses_of(const std::string& host, Deadline deadline, std::string& why);

}  // namespace gpuctl::net
