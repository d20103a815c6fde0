#!/bin/sh
# Builds, installs, tests and shows gpuctl. `./install.sh help` says how.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$root"

# Package names, one table a distribution family. `build` makes gpuctl, `tests` adds what its
# tests need. Everything comes from the distribution; nothing else is downloaded.
debian_build="git ca-certificates g++ cmake ninja-build pkg-config libyaml-cpp-dev libgit2-dev
  zlib1g-dev libcli11-dev libspdlog-dev libre2-dev libssl-dev nlohmann-json3-dev"
debian_tests="libgtest-dev libgmock-dev python3 python3-yaml python3-jsonschema"
fedora_build="git ca-certificates gcc-c++ cmake ninja-build pkgconf-pkg-config yaml-cpp-devel
  libgit2-devel zlib-devel cli11-devel spdlog-devel re2-devel openssl-devel json-devel"
fedora_tests="gtest-devel gmock-devel python3 python3-pyyaml python3-jsonschema"

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

usage() {
  cat <<'TEXT'
usage: ./install.sh [VERB] [--with-tests]

  install   install missing packages, build a release, install it (the default)
  packages  install missing packages only (--with-tests: those of the tests too)
  build     packages and the release build, nothing installed
  demo      build, then commit the sample blueprints to a Git repository of their own
  test      install what the tests need, build with tests, run them
  help      this text

environment:
  PREFIX                 where to install: /usr/local when that is writable, else ~/.local
  DEMO_REPO              repository of the demo: out/fleet
  JOBS                   parallel compile and test jobs: the number of processors
  GPUCTL_REQUIRE_SHARED  1: a test that is skipped because ../shared is absent counts as failed
                         (so does CI=true)

Root is needed only when packages are missing; sudo is used then, and only for that.
TEXT
}

family() {
  if command -v dpkg >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    echo debian
  elif command -v rpm >/dev/null 2>&1 && command -v dnf >/dev/null 2>&1; then
    echo fedora
  else
    echo other
  fi
}

# Prints the packages of the arguments that are not installed.
missing_of() {
  for package in "$@"; do
    case $system in
      debian)
        # A virtual or removed package has no "install ok installed" line.
        dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || printf '%s ' "$package"
        ;;
      fedora) rpm -q --whatprovides "$package" >/dev/null 2>&1 || printf '%s ' "$package" ;;
    esac
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    note "root is needed for: $*"
    sudo "$@"
  else
    fail "these packages are missing, and neither root nor sudo is at hand: $missing"
  fi
}

# $1: build | tests
ensure_packages() {
  system=$(family)
  case $system in
    debian) wanted=$debian_build; [ "$1" = build ] || wanted="$wanted $debian_tests" ;;
    fedora) wanted=$fedora_build; [ "$1" = build ] || wanted="$wanted $fedora_tests" ;;
    *)
      say "neither apt nor dnf here: taking the packages of $1 as given (see README.md)"
      return 0
      ;;
  esac
  # The table is a list of words on purpose.
  # shellcheck disable=SC2086
  missing=$(missing_of $wanted)
  if [ -z "$missing" ]; then
    say "packages: all present"
    return 0
  fi
  say "packages missing: $missing"
  # shellcheck disable=SC2086
  case $system in
    debian)
      as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get update -qq
      as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y -qq \
        --no-install-recommends $missing
      ;;
    fedora)
      as_root dnf install -y -q $missing ||
        fail "dnf could not install them all; on RHEL and its rebuilds enable CRB and EPEL first"
      ;;
  esac
}

job_count() {
  if [ -n "${JOBS:-}" ]; then echo "$JOBS"; else nproc 2>/dev/null || echo 2; fi
}

# $1: ON | OFF, whether tests are built
build() {
  say "build (build/release, tests: $1)"
  launcher=
  if command -v ccache >/dev/null 2>&1; then launcher=ccache; fi
  mkdir -p build
  cmake --preset release -DGPUCTL_TESTS="$1" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    >build/configure.log 2>&1 || {
    cat build/configure.log >&2
    fail "the build could not be configured"
  }
  cmake --build --preset release --parallel "$(job_count)"
}

verb_install() {
  ensure_packages build
  build OFF
  if [ -n "${PREFIX:-}" ]; then
    prefix=$PREFIX
  elif [ -w /usr/local/bin ] && [ -w /usr/local/share ]; then
    prefix=/usr/local
  else
    prefix=$HOME/.local
  fi
  say "install to $prefix"
  cmake --install build/release --prefix "$prefix" >/dev/null
  "$prefix/bin/gpuctl" version
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) note "$prefix/bin is not in PATH yet: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  note "next: gpuctl validate blueprints/NAME.yaml, or ./install.sh demo"
}

# Sample blueprints, without the facts that stand beside them.
samples() {
  for sample in blueprints/*.yaml; do
    case $sample in
      *.facts.yaml | 'blueprints/*.yaml') ;;
      *) printf '%s\n' "$sample" ;;
    esac
  done
}

verb_demo() {
  ensure_packages build
  build OFF
  repo=${DEMO_REPO:-$root/out/fleet}
  mkdir -p "$(dirname -- "$repo")"
  # A commit needs an author; a machine without one gets a name that nobody takes for a person.
  if ! (cd / && git config --get user.email) >/dev/null 2>&1; then
    GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-gpuctl demo}
    GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-demo@example.invalid}
    GIT_COMMITTER_NAME=${GIT_COMMITTER_NAME:-$GIT_AUTHOR_NAME}
    GIT_COMMITTER_EMAIL=${GIT_COMMITTER_EMAIL:-$GIT_AUTHOR_EMAIL}
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
  fi
  set --
  for sample in $(samples); do set -- "$@" "$sample"; done
  [ $# -gt 0 ] || fail "no sample under blueprints/"
  say "gpuctl apply $* --repo $repo --init"
  build/release/gpuctl apply "$@" --repo "$repo" --init
  say "done: a Git repository that a GitOps engine can take as it is"
  cat <<TEXT

    Look at it:
      git -C $repo log --stat
      git -C $repo ls-tree -r --name-only HEAD

    Change something (a replica count in blueprints/, say) and run ./install.sh demo again:
    one commit with just that change. Run it unchanged: no commit.

    For real use: copy a sample, edit it, then
      gpuctl validate my.yaml
      gpuctl apply my.yaml --repo PATH-OF-YOUR-REPOSITORY
TEXT
}

verb_test() {
  ensure_packages tests
  build ON
  strict=0
  if [ "${CI:-}" = true ] || [ "${GPUCTL_REQUIRE_SHARED:-}" = 1 ]; then strict=1; fi
  if [ ! -d ../shared/schemas ]; then
    say "../shared is absent: the published CRDs and outside test data are not at hand"
    note "SKIPPED: everything that is checked against them (listed below as skipped)"
    [ "$strict" = 0 ] || note "and skipping counts as failure (CI=true or GPUCTL_REQUIRE_SHARED=1)"
  fi
  say "tests"
  status=0
  ctest --preset release --parallel "$(job_count)" || status=$?
  log=build/release/Testing/Temporary/LastTest.log
  skipped=$(grep -hE '^\[  SKIPPED \] [A-Za-z]|^SKIPPED:' "$log" | sort -u || true)
  if [ -n "$skipped" ]; then
    say "skipped:"
    printf '%s\n' "$skipped" | sed 's/^/    /'
    if [ "$strict" = 1 ] && [ ! -d ../shared/schemas ]; then
      say "skipped for want of ../shared: counted as failure"
      status=1
    fi
  fi
  return "$status"
}

verb=${1:-install}
[ $# -eq 0 ] || shift
with_tests=build
for option in "$@"; do
  case $option in
    --with-tests) with_tests=tests ;;
    *)
      usage >&2
      exit 64
      ;;
  esac
done

case $verb in
  install) verb_install ;;
  packages) ensure_packages "$with_tests" ;;
  build)
    ensure_packages build
    build OFF
    ;;
  demo) verb_demo ;;
  test) verb_test ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    exit 64
    ;;
esac
