#!/bin/sh
# Sets up this host for the vGPUs of GPU pool small: driver, graphics type, scheduler, ECC and MIG mode.
#
#   sh host-small.sh [OFFLINE-BUNDLE]
#
# The offline bundle of the host driver is needed where the driver is missing or another one. Runs as root in
# the shell of the ESXi host, which is in maintenance mode. Exit code 0: all is as wanted; 3: reboot the host,
# then run this again; 1: something is wrong, and said.
# shellcheck disable=SC2016  # a path may hold characters that mean something outside of quotes
set -eu

version=580.159.01
depot=''
scheduler=0x00
ecc=Enabled
mig=Disabled
part=''

if [ $# -gt 0 ]; then depot=$1; fi
reboot=no
fail() {
  echo "$1" >&2
  exit 1
}
finish() {
  if [ "$reboot" = yes ]; then
    echo 'reboot the host, then run this again'
    exit 3
  fi
}

# The host driver. Its branch decides which guest drivers load.
installed=$(esxcli software vib list | awk '/^(NVD|NVIDIA)/ && tolower($1) !~ /mgmt/ { print $2; exit }')
case $installed in
  '') action=install ;;
  "$version"*) action=none ;;
  *) action=update ;;
esac
if [ "$action" = none ]; then
  echo "host driver $installed"
else
  [ -n "$depot" ] || fail "host driver: '$installed' instead of '$version'; give the path of its offline bundle"
  [ "$(esxcli system maintenanceMode get)" = Enabled ] || fail 'put the host into maintenance mode first'
  esxcli software vib "$action" -d "$depot"
  reboot=yes
fi

# Shared Direct; with any other type no vGPU is offered.
case $(esxcli graphics host get) in
  *'Default Graphics Type: SharedPassthru'*) echo 'graphics type SharedPassthru' ;;
  *)
    esxcli graphics host set --default-type SharedPassthru
    reboot=yes
    ;;
esac
finish

nvidia-smi >/dev/null || fail 'the host driver does not answer: is SR-IOV on in the BIOS, and the host rebooted?'

# How time-sliced vGPUs take turns. Without the parameter it is best effort (0x00).
if [ -n "$scheduler" ]; then
  parameter=$(esxcli system module parameters list -m nvidia | grep '^NVreg_RegistryDwords ' || true)
  found=$(echo "$parameter" | sed -n 's/.*RmPVMRL=\(0x[0-9A-Fa-f]*\).*/\1/p')
  if [ "$found" = "$scheduler" ] || { [ -z "$found" ] && [ "$scheduler" = 0x00 ]; }; then
    echo "scheduler RmPVMRL=$scheduler"
  else
    case $(echo "$parameter" | sed 's/RmPVMRL=//') in
      *=*) fail "module nvidia has other settings in NVreg_RegistryDwords: add RmPVMRL=$scheduler to them by hand" ;;
    esac
    esxcli system module parameters set -m nvidia -p "NVreg_RegistryDwords=RmPVMRL=$scheduler"
    reboot=yes
  fi
fi

# Brings ECC or MIG mode of every GPU to a state: QUERY WANTED OPTION NAME
switch_mode() {
  for state in $(nvidia-smi "--query-gpu=index,$1.current,$1.pending" --format=csv,noheader | tr -d ' '); do
    gpu=$(echo "$state" | cut -d , -f 1)
    current=$(echo "$state" | cut -d , -f 2)
    pending=$(echo "$state" | cut -d , -f 3)
    case $current,$pending in
      *N/A*)
        [ "$4,$2" != MIG,Enabled ] || fail "GPU $gpu does not support MIG"
        echo "GPU $gpu has no $4 mode"
        ;;
      "$2,$2") echo "GPU $gpu: $4 $2" ;;
      *",$2") reboot=yes ;;
      *)
        if [ "$2" = Enabled ]; then nvidia-smi -i "$gpu" "$3" 1; else nvidia-smi -i "$gpu" "$3" 0; fi
        reboot=yes
        ;;
    esac
  done
}
switch_mode ecc.mode "$ecc" -e ECC
switch_mode mig.mode "$mig" -mig MIG
finish

# vGPUs of different sizes on a GPU: a setting of vSphere, 8.0 U3 or newer.
modes=$(nvidia-smi -q | sed -n 's/^ *vGPU Heterogeneous Mode *: *//p' | sort -u)
[ "$modes" = Enabled ] || fail "set every GPU to mixed size, see RUNBOOK.md; now it is '$modes'"
echo 'vGPU mode mixed size'

# vSphere partitions the GPU itself when a machine starts; no nvidia-smi mig -cgi is needed. The instance must exist.
if [ -n "$part" ]; then
  nvidia-smi mig -lgip | grep -Fq "MIG $part " || fail "no GPU of this host has parts $part"
  echo "parts $part"
fi
echo 'the host is as wanted'
