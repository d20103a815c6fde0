// Command vcenter is govc, with the commands that the generated scripts and their test call, and a
// simulated vCenter to run them against.
//
//	vcenter simulate    serves an empty inventory on a free port of this machine, prints the address,
//	                    and ends with its standard input
//	vcenter COMMAND...  is govc
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/device"
	_ "github.com/vmware/govmomi/cli/folder"
	_ "github.com/vmware/govmomi/cli/gpu/vm"
	_ "github.com/vmware/govmomi/cli/object"
	_ "github.com/vmware/govmomi/cli/session"
	_ "github.com/vmware/govmomi/cli/version"
	_ "github.com/vmware/govmomi/cli/vm"
	"github.com/vmware/govmomi/simulator"
)

func simulate() {
	model := simulator.VPX()
	defer model.Remove()
	if err := model.Create(); err != nil {
		log.Fatal(err)
	}
	model.Service.TLS = new(tls.Config)
	server := model.Service.NewServer()
	defer server.Close()
	fmt.Println(server.URL.String())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "simulate" {
		simulate()
		return
	}
	os.Exit(cli.Run(os.Args[1:]))
}
