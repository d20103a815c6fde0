#!/bin/sh
# Builds, installs, tests and shows gpuctl. `./install.sh help` says how.
set -eu

here=$PWD
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$root"

# Package names, one table a distribution family. `build` makes gpuctl, `tests` adds what its
# tests need. Everything comes from the distribution; nothing else is downloaded.
debian_build="git ca-certificates g++ cmake ninja-build pkg-config libyaml-cpp-dev libgit2-dev
  zlib1g-dev libcli11-dev libspdlog-dev libre2-dev libssl-dev libcurl4-openssl-dev libc-ares-dev
  nlohmann-json3-dev"
debian_tests="libgtest-dev libgmock-dev python3 python3-yaml python3-jsonschema"
fedora_build="git ca-certificates gcc-c++ cmake ninja-build pkgconf-pkg-config yaml-cpp-devel
  libgit2-devel zlib-devel cli11-devel spdlog-devel re2-devel openssl-devel libcurl-devel
  c-ares-devel json-devel"
fedora_tests="gtest-devel gmock-devel python3 python3-pyyaml python3-jsonschema"

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

usage() {
  cat <<'TEXT'
usage: ./install.sh [VERB] [--with-tests] [--all] [--from ARCHIVE [--key FILE]]

  install   install missing packages, build a release, install it (the default)
            --from ARCHIVE: install what a release archive has, without a compiler. SHA256SUMS
            must stand beside it. --key FILE: SHA256SUMS.sig as well, made by one of these
            public ssh keys
  packages  install missing packages only (--with-tests: those of the tests too)
  build     packages and the release build, nothing installed
  demo      build, then commit the sample blueprints to a Git repository of their own
  test      install what the tests need, build with tests, run them (--all: the exhaustive
            ones as well, another quarter of an hour)
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
        # Of another architecture, as beside a cross compiler, it does not count.
        dpkg-query -W -f '${Status} ${Architecture}\n' "$package" 2>/dev/null |
          grep -q -x -E "install ok installed (all|$(dpkg --print-architecture))" || printf '%s ' "$package"
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

choose_prefix() {
  if [ -n "${PREFIX:-}" ]; then
    prefix=$PREFIX
  elif [ -w /usr/local/bin ] && [ -w /usr/local/share ]; then
    prefix=/usr/local
  else
    prefix=$HOME/.local
  fi
  case $prefix in
    /*) ;;
    *) prefix=$root/$prefix ;;
  esac
}

from_here() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$here/$1" ;;
  esac
}

# Fails unless $scratch/SHA256SUMS is signed by a key of the file $1.
verify_signature() {
  command -v ssh-keygen >/dev/null 2>&1 || fail "--key needs ssh-keygen (package openssh-client)"
  [ -f "$1" ] || fail "there is no key $1"
  [ -f "$scratch/SHA256SUMS.sig" ] || fail "the sums are not signed: there is no $sums.sig; nothing was installed"
  while read -r line || [ -n "$line" ]; do
    case $line in
      '' | '#'*) ;;
      *) printf 'release namespaces="file" %s\n' "$line" ;;
    esac
  done <"$1" >"$scratch/allowed"
  ssh-keygen -Y verify -f "$scratch/allowed" -I release -n file -s "$scratch/SHA256SUMS.sig" \
    <"$scratch/SHA256SUMS" >/dev/null 2>&1 ||
    fail "SHA256SUMS has no signature by a key of $1; nothing was installed"
  say "the signature is by a key of $1"
}

# Unpacks the archive $1 to $scratch/tree, after what was promised of it: what is checked is a copy
# that nobody else can change.
unpack_verified() {
  sums=$(dirname -- "$1")/SHA256SUMS
  name=$(basename -- "$1")
  [ -f "$1" ] || fail "there is no archive $1"
  [ -f "$sums" ] || fail "there is no $sums to check $name by; nothing was installed"
  cp -- "$1" "$scratch/archive"
  cp -- "$sums" "$scratch/SHA256SUMS"
  if [ -f "$sums.sig" ]; then cp -- "$sums.sig" "$scratch/"; fi
  if [ -n "$key" ]; then verify_signature "$(from_here "$key")"; fi
  promised=$(NAME=$name awk '{ word = $2; sub(/^[*]/, "", word) } word == ENVIRON["NAME"] { print $1; exit }' \
    "$scratch/SHA256SUMS")
  [ -n "$promised" ] || fail "$sums does not name $name; nothing was installed"
  found=$(sha256sum <"$scratch/archive")
  [ "$promised" = "${found%% *}" ] ||
    fail "$name is not the archive that $sums names: its SHA-256 is ${found%% *}; nothing was installed"
  say "$name has the SHA-256 that it should have"
  mkdir "$scratch/tree"
  tar -xzf "$scratch/archive" --no-same-owner -C "$scratch/tree" || fail "$name cannot be unpacked"
  set -- "$scratch"/tree/*
  if [ $# -ne 1 ] || [ ! -f "$1/bin/gpuctl" ] || [ -n "$(find "$1" ! -type f ! -type d)" ]; then
    fail "$name is no release of gpuctl; nothing was installed"
  fi
  unpacked=$1
}

install_archive() {
  umask 022
  choose_prefix
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT TERM HUP
  unpack_verified "$(from_here "$from")"
  "$unpacked/bin/gpuctl" version >/dev/null ||
    fail "the program does not run here (processor $(uname -m)); nothing was installed"
  say "install to $prefix"
  mkdir -p "$prefix/bin" "$prefix/share"
  cp -R "$unpacked/share/." "$prefix/share/"
  # Each program appears whole, also in the place of one that runs.
  for program in "$unpacked"/bin/*; do
    place=$prefix/bin/$(basename -- "$program")
    cp -- "$program" "$place.new"
    chmod 755 "$place.new"
    mv -f -- "$place.new" "$place"
  done
  installed
}

verb_install() {
  if [ -n "$from" ]; then
    install_archive
    return
  fi
  [ -f CMakeLists.txt ] || fail "there is no source to build beside install.sh; --from ARCHIVE takes a release"
  ensure_packages build
  build OFF
  choose_prefix
  say "install to $prefix"
  cmake --install build/release --prefix "$prefix" >/dev/null
  installed
}

installed() {
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
  say "done: a Git repository that a GitOps controller can take as it is"
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
  if [ "$all" = 0 ]; then
    set -- --label-exclude '^exhaustive$'
    note "without the exhaustive ones (--all), which CI runs as well"
  fi
  ctest --preset release --parallel "$(job_count)" "$@" || status=$?
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

case ${1:-} in
  '' | --from | --key) verb=install ;;
  *)
    verb=$1
    shift
    ;;
esac
with_tests=build
all=0
from=
key=
while [ $# -gt 0 ]; do
  case $1 in
    --with-tests) with_tests=tests ;;
    --all)
      if [ "$verb" != test ]; then
        usage >&2
        exit 64
      fi
      all=1
      ;;
    --from | --key)
      if [ "$verb" != install ] || [ -z "${2:-}" ]; then
        usage >&2
        exit 64
      fi
      if [ "$1" = --from ]; then from=$2; else key=$2; fi
      shift
      ;;
    *)
      usage >&2
      exit 64
      ;;
  esac
  shift
done
if [ -n "$key" ] && [ -z "$from" ]; then
  usage >&2
  exit 64
fi

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
