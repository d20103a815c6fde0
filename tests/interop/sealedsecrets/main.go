// Opens SealedSecrets by the code of their controller, and makes keys as it does.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	sealed "github.com/bitnami-labs/sealed-secrets/pkg/apis/sealedsecrets/v1alpha1"
	"github.com/bitnami-labs/sealed-secrets/pkg/crypto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/yaml"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A private key, and the certificate that the controller publishes for it.
func makeKey(keyFile, certificateFile string) {
	// From a time before the day on which the tests are.
	from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	key, err := rsa.GenerateKey(rand.Reader, 4096)
	check(err)
	certificate, err := crypto.SignKeyWithNotBefore(rand.Reader, key, from, 10*365*24*time.Hour, "")
	check(err)
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	check(err)
	check(os.WriteFile(keyFile, text, 0o600))
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
	check(os.WriteFile(certificateFile, block, 0o644))
}

func unseal(keyFile, objectFile string) {
	text, err := os.ReadFile(keyFile)
	check(err)
	parsed, err := keyutil.ParsePrivateKeyPEM(text)
	check(err)
	key := parsed.(*rsa.PrivateKey)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	check(err)
	object, err := os.ReadFile(objectFile)
	check(err)
	var found sealed.SealedSecret
	check(yaml.UnmarshalStrict(object, &found))
	scheme := runtime.NewScheme()
	check(corev1.AddToScheme(scheme))
	check(sealed.AddToScheme(scheme))
	secret, err := found.Unseal(serializer.NewCodecFactory(scheme), map[string]*rsa.PrivateKey{string(public): key})
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(secret))
}

func main() {
	switch os.Args[1] {
	case "key":
		makeKey(os.Args[2], os.Args[3])
	case "unseal":
		unseal(os.Args[2], os.Args[3])
	}
}
