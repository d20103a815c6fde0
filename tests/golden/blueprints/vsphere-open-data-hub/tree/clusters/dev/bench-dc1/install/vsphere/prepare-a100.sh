#!/bin/sh
# Makes the VM templates of GPU pool a100, or checks those that are there already.
#
#   sh prepare-a100.sh [FAILURE-DOMAIN...]
#
# Needs govc 0.49 or newer and jq. GOVC_URL, GOVC_USERNAME and GOVC_PASSWORD say which vCenter, and as whom.
# RHCOS_TEMPLATE names the template of the release, where the one below is not right. Exit code 0: the
# templates are there and as promised; 1: something is missing, and said. It may run as often as you like.
# shellcheck disable=SC2016  # names may hold characters that mean something outside of quotes
set -eu

hardware=20
firmware='efi'
secure_boot=false
cpus=32
memory=262144
reservation=262144
devices=2
profile=''
label=''

# Calls its argument with name and value of each advanced setting.
each_setting() {
  "$1" 'pciPassthru.use64bitMMIO' 'TRUE'
  "$1" 'pciPassthru.64bitMMIOSizeGB' '512'
}

say() { printf '%s: %s\n' "$domain" "$1"; }
fail() {
  printf '%s: %s\n' "$domain" "$1" >&2
  exit 1
}
problem() {
  printf '%s: %s\n' "$domain" "$1" >&2
  problems=$((problems + 1))
}

read_machine() { machine=$(govc vm.info -json "$template"); }
exists() { [ "$(printf '%s' "$machine" | jq -r '.virtualMachines // [] | length')" -gt 0 ]; }
value() { printf '%s' "$machine" | jq -r ".virtualMachines[0] | $1"; }
is_template() { [ "$(value '.config.template')" = true ]; }
setting() {
  printf '%s' "$machine" | jq -r --arg key "$1" \
    '[.virtualMachines[0].config.extraConfig[]? | select(.key == $key) | .value][0] // ""'
}
hardware_of_machine() { value '.config.version' | sed 's/^vmx-0*//'; }
read_devices() {
  backings=$(govc device.info -json -vm "$template" |
    jq -c '[.devices[]? | select(.type == "VirtualPCIPassthrough") | .backing]')
}
# Of the PCI devices of the machine, those that the pool promises; and all of them.
promised_devices() {
  printf '%s' "$backings" | jq -r --arg profile "$profile" --arg mark "$label" '
    [.[] | if $profile != "" then select(.vgpu == $profile)
      else select(has("allowedDevice") and ($mark == "" or .customLabel == $mark)) end] | length'
}
all_devices() { printf '%s' "$backings" | jq -r length; }

clone_machine() {
  source=$1
  if [ -n "$(printenv RHCOS_TEMPLATE || true)" ]; then source=$RHCOS_TEMPLATE; fi
  case $source in
    '') fail "which template is cloned is not known before the installation: set RHCOS_TEMPLATE to the node image of the release" ;;
    /*) ;;
    *)
      name=$source
      source=$(govc find "/$datacenter/vm" -type m -name "$name" | head -n 1)
      [ -n "$source" ] || fail "there is no template $name in datacenter $datacenter: set RHCOS_TEMPLATE to the node image of the release"
      ;;
  esac
  folder=$(dirname "$template")
  govc folder.info "$folder" >/dev/null 2>&1 || govc folder.create "$folder"
  say "cloning $source to $template"
  govc vm.clone -dc "$datacenter" -vm "$source" -template=false -on=false -folder "$folder" \
    -ds "$datastore" -pool "$pool" -c "$cpus" -m "$memory" "$(basename "$template")"
}

set_setting() { [ "$(setting "$1")" = "$2" ] || govc vm.change -vm "$template" -e "$1=$2"; }
set_up_machine() {
  [ "$(value '.runtime.powerState')" = poweredOff ] || fail "$template is running: shut it down first"
  if [ "$(hardware_of_machine)" -lt "$hardware" ]; then
    govc vm.upgrade -version="$hardware" -vm "$template"
  fi
  if [ "$(value '.config.firmware')" != "$firmware" ] ||
    [ "$(value '.config.bootOptions.efiSecureBootEnabled // false')" != "$secure_boot" ]; then
    govc device.boot -vm "$template" -firmware "$firmware" -secure="$secure_boot"
  fi
  if [ "$reservation" -ge "$memory" ]; then pinned=true; else pinned=false; fi
  govc vm.change -vm "$template" -c "$cpus" -m "$memory" -mem.reservation "$reservation" -memory-pin="$pinned"
  each_setting set_setting
}

check_setting() {
  [ "$(setting "$1")" = "$2" ] || problem "setting $1 is '$(setting "$1")' instead of '$2'"
}
check_machine() {
  problems=0
  [ "$(hardware_of_machine)" -ge "$hardware" ] ||
    problem "the virtual hardware has version $(hardware_of_machine) instead of $hardware"
  [ "$(value '.config.firmware')" = "$firmware" ] ||
    problem "the firmware is $(value '.config.firmware') instead of $firmware"
  [ "$(value '.config.bootOptions.efiSecureBootEnabled // false')" = "$secure_boot" ] ||
    problem "secure boot is $(value '.config.bootOptions.efiSecureBootEnabled // false') instead of $secure_boot"
  [ "$(value '.config.hardware.memoryMB')" -eq "$memory" ] ||
    problem "it has $(value '.config.hardware.memoryMB') MiB of memory instead of $memory"
  [ "$(value '.config.memoryAllocation.reservation // 0')" -ge "$reservation" ] ||
    problem "$(value '.config.memoryAllocation.reservation // 0') MiB of memory are reserved instead of $reservation"
  each_setting check_setting
  if [ "$(promised_devices)" -ne "$devices" ] || [ "$(all_devices)" -ne "$devices" ]; then
    problem "it has $(promised_devices) of $devices promised GPU devices, and $(all_devices) passed-through devices in all"
    explain_devices
  fi
}
# govc adds vGPUs; of passthrough it knows fixed PCI addresses only, which bind a machine to one host.
add_devices() {
  [ -n "$profile" ] || return 0
  missing=$((devices - $(promised_devices)))
  while [ "$missing" -gt 0 ]; do
    govc gpu.vm.add -vm "$template" -profile "$profile" || break
    missing=$((missing - 1))
  done
}
explain_devices() {
  if [ -n "$profile" ]; then
    echo '  govc gpu.host.profile.ls -host HOST lists the profiles of a host; vmTemplate.vgpuProfile names another.'
  else
    echo '  Edit the settings of the machine in the vSphere client: Add new device, PCI device, Dynamic DirectPath'
    printf '  I/O, and the GPU of the pool. Its hardware label: %s\n' "$label"
    printf '  Do so for %s GPUs, and remove other PCI devices. Then run this script again.\n' "$devices"
  fi >&2
}

chosen=$*
unfinished=0
# FAILURE-DOMAIN VCENTER TEMPLATE SOURCE DATACENTER DATASTORE RESOURCE-POOL
prepare() {
  domain=$1 template=$3 datacenter=$5 datastore=$6 pool=$7
  case " $chosen " in
    '  ' | *" $domain "*) ;;
    *) return 0 ;;
  esac
  say "vCenter $2"
  read_machine
  if ! exists; then
    clone_machine "$4"
    read_machine
    exists || fail "$template was cloned, but is not there"
  fi
  if ! is_template; then
    set_up_machine
    read_devices
    add_devices
    read_machine
  fi
  read_devices
  check_machine
  if [ "$problems" -gt 0 ]; then
    unfinished=$((unfinished + 1))
    if is_template; then
      say "$template is a template and stays as it is: make it a machine again (govc vm.markasvm), or delete it"
    fi
    return 0
  fi
  is_template || govc vm.markastemplate "$template"
  say "$template is as promised"
}

prepare 'rack-a' \
  'vcenter.example.com' \
  '/dc1/vm/templates/rhcos-4.20-a100' \
  'bench-dc1-h4m8d-rhcos-rack-a' \
  'dc1' \
  '/dc1/datastore/vsan-a' \
  '/dc1/host/rack-a/Resources'
[ "$unfinished" -eq 0 ]
