#!/bin/sh
# Hands GPUs of this host to the machines of GPU pool a100.
#
#   sh host-a100.sh PCI-ADDRESS...
#
# The addresses look like 0000:3b:00.0; esxcli hardware pci list -c 0x0300 -m 0xff00 tells them. Runs as root in
# the shell of the ESXi host. Exit code 0: all is as wanted; 3: reboot the host, then run this again; 1:
# something is wrong, and said.
set -eu

if [ $# -eq 0 ]; then
  echo 'give the PCI addresses of the GPUs' >&2
  exit 1
fi
# Vendor and device of an address, such as 10de:26b9; nothing where the host does not tell.
id_of() {
  esxcli hardware pci list | awk -v device="$1" '
    $1 == "Address:" { here = tolower($2) == tolower(device) }
    here && $1 == "Vendor" && $2 == "ID:" { vendor = substr(tolower($3), 3) }
    here && $1 == "Device" && $2 == "ID:" { print vendor ":" substr(tolower($3), 3); exit }'
}

reboot=no
for device in "$@"; do
  id=$(id_of "$device")
  case $id in
    '' | 10de:20b2) ;;
    10de:*) echo "$device is $id, and A100-80GB is 10de:20b2: another GPU?" >&2 ;;
    *)
      echo "$device is $id, no GPU of nvidia" >&2
      exit 1
      ;;
  esac
  enabled=$(esxcli hardware pci pcipassthru list |
    awk -v device="$device" 'tolower($1) == tolower(device) { print tolower($2) }')
  case $enabled in
    true) echo "$device is handed to machines" ;;
    false)
      esxcli hardware pci pcipassthru set -d "$device" -e true
      echo "$device was switched to passthrough"
      reboot=yes
      ;;
    *)
      echo "$device is no device of this host that can be passed through" >&2
      exit 1
      ;;
  esac
done
if [ "$reboot" = yes ]; then
  echo 'reboot the host, then run this again'
  exit 3
fi
echo 'the host is as wanted; the hardware label is set in the client, see RUNBOOK.md'
