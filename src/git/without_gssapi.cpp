// What the archive of libgit2 calls of Kerberos, which Debian has as shared libraries alone: of a
// release, where libgit2 is linked in. Nobody gets there, because the git program does what goes
// over the network; who does is told that there is no such way to log in (RFC 2744, 3.9.1).
#ifdef GPUCTL_WITHOUT_GSSAPI
namespace {

constexpr unsigned kUnavailable = 16U << 16U;

}  // namespace

// NOLINTBEGIN: names of others; the parameters do not matter
extern "C" {
void* GSS_C_NT_HOSTBASED_SERVICE = nullptr;
unsigned gss_delete_sec_context() {
  return kUnavailable;
}
unsigned gss_display_status() {
  return kUnavailable;
}
unsigned gss_import_name() {
  return kUnavailable;
}
unsigned gss_indicate_mechs() {
  return kUnavailable;
}
unsigned gss_init_sec_context() {
  return kUnavailable;
}
unsigned gss_release_buffer() {
  return kUnavailable;
}
unsigned gss_release_name() {
  return kUnavailable;
}
unsigned gss_release_oid_set() {
  return kUnavailable;
}
}
// NOLINTEND
#endif
