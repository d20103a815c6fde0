#!/usr/bin/env bash
# Makes a release of what is checked out, the same bytes each time (docs/releases.md):
#   .ci/release/release.sh [--output DIR] [--build DIR] [--key FILE] [--machine NAME]
#
#   --output  where it goes: out/release
#   --build   the build that it is made of, configured when it is not: build/static
#   --machine what it is for, as uname -m says it: aarch64 is built on others as well
#   --key     a private ssh key, or the public one of a key that an agent holds, to sign with
#
# SOURCE_DATE_EPOCH is the time of all files: that of the commit, unless it is given.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=C TZ=UTC
umask 022

fail() {
  printf 'release.sh: %s\n' "$*" >&2
  exit 1
}

output=$root/out/release
build=
key=
machine=$(uname -m)
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1 wants a value"
  case $1 in
    --output) output=$(realpath -m "$2") ;;
    --build) build=$(realpath -m "$2") ;;
    --key) key=$(realpath "$2") ;;
    --machine) machine=$2 ;;
    *) fail "unknown option $1" ;;
  esac
  shift 2
done
cd "$root"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

configure=(-DCMAKE_BUILD_TYPE=Release -DGPUCTL_STATIC=ON -DGPUCTL_TESTS=OFF -DGPUCTL_UNITY=ON)
if [ "$machine" != "$(uname -m)" ]; then
  toolchain=cmake/$machine-linux-gnu.cmake
  [ -e "$toolchain" ] || fail "there is no $toolchain to build for $machine with"
  configure+=(--toolchain "$toolchain")
  build=${build:-$root/build/static-$machine}
fi
build=${build:-$root/build/static}
if command -v ccache >/dev/null; then configure+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B "$build" -G Ninja "${configure[@]}" >/dev/null
cmake --build "$build" --parallel "${JOBS:-$(nproc)}"
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
version=$(cached CMAKE_PROJECT_VERSION)
case $machine in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(dpkg --print-architecture) ;;
esac
name=gpuctl-$version-linux-$machine

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$output"
mkdir -p "$output"

# settle DIRECTORY: modes and times that no umask and no clock has a part in.
settle() {
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f -perm -u+x -exec chmod 755 {} +
  find "$1" -type f ! -perm -u+x -exec chmod 644 {} +
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

tree=$scratch/$name
cmake --install "$build" --prefix "$tree" --strip >/dev/null
python3 .ci/release/parts.py --build "$build" --program "$tree/bin/gpuctl" --version "$version" --architecture "$architecture" \
  --notices "$tree/share/doc/gpuctl/notices" >"$output/$name.spdx.json"
cp "$output/$name.spdx.json" "$tree/share/doc/gpuctl/gpuctl.spdx.json"
settle "$tree"
tar --create --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --directory "$scratch" "$name" | gzip -9n >"$output/$name.tar.gz"
cp install.sh "$output/"

# package GENERATOR: the same files as distributions want them; $scratch/GENERATOR/usr is there.
package() {
  local files=$scratch/$1
  mkdir -p "$files" "$scratch/$1.out"
  cp -r "$tree" "$files/usr"
  local pages=$files/usr/share/doc/gpuctl
  find "$files/usr/share/man" -type f -exec gzip -9n {} +
  if [ "$1" = DEB ]; then
    mkdir -p "$files/usr/share/zsh/vendor-completions"
    mv "$files/usr/share/zsh/site-functions/_gpuctl" "$files/usr/share/zsh/vendor-completions/"
    rmdir "$files/usr/share/zsh/site-functions"
    rm "$pages/LICENSE"
    cp .ci/release/copyright "$pages/copyright"
    {
      printf 'gpuctl (%s) unstable; urgency=medium\n\n  * Release %s.\n\n' "$version" "$version"
      printf ' -- gpuctl <gpuctl@example.invalid>  %s\n' "$(date --date="@$SOURCE_DATE_EPOCH" --rfc-email)"
    } | gzip -9n >"$pages/changelog.gz"
  fi
  settle "$files"
  GPUCTL_TREE=$files GPUCTL_VERSION=$version GPUCTL_GLIBC=$glibc GPUCTL_OUTPUT=$scratch/$1.out \
    GPUCTL_ARCHITECTURE=$architecture GPUCTL_MACHINE=$machine \
    cpack --config .ci/release/packages.cmake -G "$1" >"$scratch/$1.log" 2>&1 || {
    cat "$scratch/$1.log" >&2
    fail "no $1 package was made"
  }
  cp "$scratch/$1.out"/*."${1,,}" "$output/"
}

glibc=$("$(cached CMAKE_OBJDUMP)" -T "$tree/bin/gpuctl" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
glibc=${glibc#GLIBC_}
package DEB
if command -v rpmbuild >/dev/null; then package RPM; else echo "no RPM package: rpmbuild is not here" >&2; fi

(cd "$output" && sha256sum -- * >"$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
if [ -n "$key" ]; then ssh-keygen -q -Y sign -f "$key" -n file "$output/SHA256SUMS"; fi
printf '%s\n' "$output"
cat "$output/SHA256SUMS"
