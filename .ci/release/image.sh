#!/usr/bin/env bash
# Makes the context of an image out of the archive of a release (docs/releases.md):
#   .ci/release/image.sh ARCHIVE DIRECTORY
# git, ssh, their libraries, libcurl and the roots of trust are those of this machine, a Debian. The
# same archive on the same packages gives the same bytes.
set -euo pipefail
export LC_ALL=C
umask 022
if [ $# -ne 2 ]; then
  echo "usage: image.sh ARCHIVE DIRECTORY" >&2
  exit 64
fi
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
mkdir -p "$root/usr/bin" "$root/usr/share/doc" "$root/etc/ssl/certs" "$root/home/gpuctl" "$root/tmp" "$root/work"
tar -xzf "$1" --no-same-owner --strip-components=1 -C "$root/usr" --wildcards '*/bin/gpuctl' '*/share/doc/gpuctl/notices' \
  '*/share/doc/gpuctl/gpuctl.spdx.json'
time=$(stat -c %Y "$root/usr/bin/gpuctl")

curl=$(/sbin/ldconfig -p | awk '$1 == "libcurl.so.4" { print $NF; exit }')
own=(/usr/bin/git /usr/bin/ssh /usr/lib/git-core/git-remote-http "$curl" /etc/ssl/certs/ca-certificates.crt)
mapfile -t libraries < <(ldd "$root/usr/bin/gpuctl" /usr/bin/git /usr/bin/ssh /usr/lib/git-core/git-remote-http "$curl" |
  grep -oE '/lib[^ ]*' | grep -v ':$' | sort -u)
for file in "${own[@]}" "${libraries[@]}"; do
  mkdir -p "$root/$(dirname "$file")"
  cp --dereference "$file" "$root/$file"
  # Whose it is, with what they say of copyright and licences.
  for name in "$file" "$(realpath "$file")" "/usr$file"; do
    package=$(dpkg-query --search "$name" 2>/dev/null | head -n 1 | cut -d: -f1) || continue
    if [ -n "$package" ]; then
      mkdir -p "$root/usr/share/doc/$package"
      cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
      dpkg-query --show "$package" >>"$scratch/packages"
      break
    fi
  done
done
sort -u "$scratch/packages" >"$root/usr/share/doc/packages"
ln -s git-remote-http "$root/usr/lib/git-core/git-remote-https"
printf 'root:x:0:0:root:/root:/usr/bin/gpuctl\ngpuctl:x:65532:65532:gpuctl:/home/gpuctl:/usr/bin/gpuctl\n' >"$root/etc/passwd"
printf 'root:x:0:\ngpuctl:x:65532:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
chmod -R u=rwX,go=rX "$root"
chmod 1777 "$root/tmp" "$root/work" "$root/home/gpuctl"

mkdir -p "$2"
tar --create --format=ustar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --directory "$root" . |
  gzip -9n >"$2/root.tar.gz"
cp "$here/Containerfile" "$2/"
printf '%s: %s KiB unpacked\n' "$2" "$(du -sk --apparent-size "$root" | cut -f1)"
