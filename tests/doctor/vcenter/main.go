// Command vcenter is govc, with the commands that checks of doctor and their cases run, and a simulated
// vCenter to run them against.
//
//	vcenter simulate CERT KEY < SETTINGS   serves an inventory at 127.0.0.1:443 until it is ended;
//	                                       SETTINGS say what differs from a good one
//	vcenter COMMAND...                     is govc
package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"slices"

	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/about"
	_ "github.com/vmware/govmomi/cli/datastore"
	_ "github.com/vmware/govmomi/cli/folder"
	_ "github.com/vmware/govmomi/cli/object"
	_ "github.com/vmware/govmomi/cli/pool"
	_ "github.com/vmware/govmomi/cli/session"
	_ "github.com/vmware/govmomi/cli/tags"
	_ "github.com/vmware/govmomi/cli/tags/association"
	_ "github.com/vmware/govmomi/cli/tags/category"
	_ "github.com/vmware/govmomi/cli/vm"
	"github.com/vmware/govmomi/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// settings of an inventory.
type settings struct {
	Version      string   // of vCenter
	Build        string   // of vCenter
	NoDRS        bool     // the cluster has none
	NoGPUs       bool     // hosts have none
	Graphics     string   // graphics type of the cards
	Profiles     []string // vGPU profiles that hosts offer
	Passthrough  bool     // cards are passed through
	Inactive     bool     // passthrough waits for a restart
	Datastore    string   // its name
	FreeBytes    int64    // of the datastore
	Network      string   // name of the port group
	Machine      bool     // the template is an ordinary machine
	TemplateVGPU string   // profile that the template carries
	Missing      []string // privileges that the account lacks
	Licences     []string // names of those that vCenter has
	NoNTP        bool     // no time service runs on the second host
}

const nvidia = 0x10de

func changeHost(host *simulator.HostSystem, s settings) {
	host.Config.Service = &types.HostServiceInfo{Service: []types.HostService{{Key: "ntpd", Label: "NTP Daemon", Policy: "on", Running: !s.NoNTP || host.Name != "esx2.example.com"}}}
	if s.NoGPUs {
		return
	}
	gpu := types.HostPciDevice{Id: "0000:3b:00.0", VendorId: nvidia, DeviceId: 0x26b9, VendorName: "NVIDIA Corporation", DeviceName: "AD102GL [L40S]"}
	host.Hardware.PciDevice = append(host.Hardware.PciDevice, gpu)
	host.Config.GraphicsInfo = []types.HostGraphicsInfo{{DeviceName: "NVIDIA L40S", VendorName: "NVIDIA", PciId: gpu.Id, GraphicsType: s.Graphics, MemorySizeInKB: 48 << 20}}
	host.Config.SharedPassthruGpuTypes = s.Profiles
	host.Config.PciPassthruInfo = []types.BaseHostPciPassthruInfo{&types.HostPciPassthruInfo{Id: gpu.Id, PassthruCapable: true, PassthruEnabled: s.Passthrough, PassthruActive: s.Passthrough && !s.Inactive}}
}

func change(model *simulator.Model, s settings) {
	registry := model.Service.Context.Map
	instance := registry.Get(types.ManagedObjectReference{Type: "ServiceInstance", Value: "ServiceInstance"}).(*simulator.ServiceInstance)
	instance.Content.About.Version, instance.Content.About.Build, instance.Content.About.ApiVersion = s.Version, s.Build, s.Version
	for i, entity := range registry.All("HostSystem") {
		host := entity.(*simulator.HostSystem)
		host.Name = fmt.Sprintf("esx%d.example.com", i+1)
		changeHost(host, s)
	}
	for _, entity := range registry.All("ClusterComputeResource") {
		enabled := !s.NoDRS
		entity.(*simulator.ClusterComputeResource).ConfigurationEx.(*types.ClusterConfigInfoEx).DrsConfig.Enabled = &enabled
	}
	for _, entity := range registry.All("Datastore") {
		store := entity.(*simulator.Datastore)
		store.Name, store.Summary.Name, store.Summary.FreeSpace = s.Datastore, s.Datastore, s.FreeBytes
	}
	for _, entity := range registry.All("DistributedVirtualPortgroup") {
		group := entity.(*simulator.DistributedVirtualPortgroup)
		if group.Name == "DC0_DVPG0" {
			group.Name = s.Network
		}
	}
	for _, entity := range registry.All("VirtualMachine") {
		machine := entity.(*simulator.VirtualMachine)
		machine.Config.Template = !s.Machine
		machine.Summary.Config.Template = !s.Machine
		machine.Runtime.PowerState = types.VirtualMachinePowerStatePoweredOff
		device := &types.VirtualPCIPassthrough{VirtualDevice: types.VirtualDevice{Key: 13000, Backing: &types.VirtualPCIPassthroughVmiopBackingInfo{Vgpu: s.TemplateVGPU}}}
		machine.Config.Hardware.Device = append(machine.Config.Hardware.Device, device)
	}
	licences := registry.Get(*instance.Content.LicenseManager).(*simulator.LicenseManager)
	licences.Licenses = nil
	for _, name := range s.Licences {
		licences.Licenses = append(licences.Licenses, types.LicenseManagerLicenseInfo{LicenseKey: "LICEN-CEKEY-CANARY", Name: name})
	}
	roles := registry.Get(*instance.Content.AuthorizationManager).(*simulator.AuthorizationManager)
	for _, role := range roles.RoleList {
		if role.Name != "Admin" {
			continue
		}
		for _, name := range role.Privilege {
			roles.PrivilegeList = append(roles.PrivilegeList, types.AuthorizationPrivilege{PrivId: name})
		}
	}
	for i := range roles.RoleList {
		roles.RoleList[i].Privilege = slices.DeleteFunc(slices.Clone(roles.RoleList[i].Privilege), func(name string) bool { return slices.Contains(s.Missing, name) })
	}
}

func simulate(certificate, key string) {
	s := settings{Version: "8.0.3", Build: "24022515", Graphics: "sharedDirect", Datastore: "gpu-nvme", FreeBytes: 4 << 40, Network: "openshift-gpu", Profiles: []string{"nvidia_l40s-24c", "nvidia_l40s-48c"}, TemplateVGPU: "nvidia_l40s-24c", Licences: []string{"VMware vCenter Server 8 Standard", "VMware vSphere 8 Enterprise Plus"}}
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		log.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		log.Fatal(err)
	}
	model := simulator.VPX()
	model.Host, model.ClusterHost, model.Machine = 0, 2, 1
	defer model.Remove()
	if err := model.Create(); err != nil {
		log.Fatal(err)
	}
	change(model, s)
	model.Service.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	model.Service.RegisterEndpoints = true // of tags
	model.Service.Listen = &url.URL{Host: "127.0.0.1:443", User: url.UserPassword("openshift@vsphere.local", "vc-Passw0rd-c4nary")}
	server := model.Service.NewServer()
	fmt.Println(server.URL.Host)
	select {}
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "simulate" {
		simulate(os.Args[2], os.Args[3])
		return
	}
	os.Exit(cli.Run(os.Args[1:]))
}
