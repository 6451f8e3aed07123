// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"

	"github.com/berthgames/berth/playground/internal/freeport"
	"github.com/berthgames/berth/playground/internal/kubeconfig"
	"github.com/berthgames/berth/playground/internal/state"
)

// validity of everything: longer than anybody keeps a playground.
const validity = 10 * 365 * 24 * time.Hour

// Names of the key files in the folder pki, which end in .crt, .key and .pub as kubeadm has them.
const (
	caName             = "ca"
	apiServerName      = "apiserver"
	frontProxyCAName   = "front-proxy-ca"
	frontProxyName     = "front-proxy-client"
	serviceAccountName = "sa"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// pki is the set of keys of one cluster.
type pki struct {
	dir string
	ca  authority
}

// newPKI makes all keys and certificates that the control plane reads from files, in the folder pki.
func newPKI(dir state.Dir) (*pki, error) {
	p := &pki{dir: dir.Join("pki")}
	var err error
	if p.ca, err = p.authority(caName); err != nil {
		return nil, err
	}
	frontProxy, err := p.authority(frontProxyCAName)
	if err != nil {
		return nil, err
	}
	client := certutil.Config{CommonName: frontProxyName, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if err := p.certificate(frontProxyName, frontProxy, client); err != nil {
		return nil, err
	}
	server := certutil.Config{
		CommonName: "kube-apiserver",
		Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		AltNames: certutil.AltNames{
			DNSNames: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			},
			IPs: []net.IP{net.ParseIP(freeport.Host), net.ParseIP(apiServiceIP)},
		},
	}
	if err := p.certificate(apiServerName, p.ca, server); err != nil {
		return nil, err
	}
	return p, p.serviceAccountKey()
}

func (p *pki) authority(name string) (authority, error) {
	cert, key, err := pkiutil.NewCertificateAuthority(certConfig(certutil.Config{CommonName: "playground " + name}))
	if err != nil {
		return authority{}, fmt.Errorf("making authority %s: %w", name, err)
	}
	if err := pkiutil.WriteCertAndKey(p.dir, name, cert, key); err != nil {
		return authority{}, fmt.Errorf("writing authority %s: %w", name, err)
	}
	return authority{cert: cert, key: key}, nil
}

func (p *pki) certificate(name string, by authority, config certutil.Config) error {
	cert, key, err := pkiutil.NewCertAndKey(by.cert, by.key, certConfig(config))
	if err != nil {
		return fmt.Errorf("making certificate %s: %w", name, err)
	}
	if err := pkiutil.WriteCertAndKey(p.dir, name, cert, key); err != nil {
		return fmt.Errorf("writing certificate %s: %w", name, err)
	}
	return nil
}

func (p *pki) serviceAccountKey() error {
	key, err := pkiutil.GeneratePrivateKey(kubeadmapi.EncryptionAlgorithmECDSAP256)
	if err != nil {
		return fmt.Errorf("making service account key: %w", err)
	}
	if err := pkiutil.WriteKey(p.dir, serviceAccountName, key); err != nil {
		return fmt.Errorf("writing service account key: %w", err)
	}
	if err := pkiutil.WritePublicKey(p.dir, serviceAccountName, key.Public()); err != nil {
		return fmt.Errorf("writing service account key: %w", err)
	}
	return nil
}

// kubeconfig writes a kubeconfig for a user with a client certificate.
func (p *pki) kubeconfig(path, server, user string, groups ...string) error {
	cert, key, err := pkiutil.NewCertAndKey(p.ca.cert, p.ca.key, certConfig(certutil.Config{
		CommonName: user, Organization: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}))
	if err != nil {
		return fmt.Errorf("making certificate of %s: %w", user, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return fmt.Errorf("encoding key of %s: %w", user, err)
	}
	cluster := kubeconfig.Cluster{Server: server, CA: pkiutil.EncodeCertPEM(p.ca.cert)}
	return kubeconfig.Write(path, cluster, kubeconfig.User{CertPEM: pkiutil.EncodeCertPEM(cert), KeyPEM: keyPEM})
}

// path returns the path of a key file, for example "ca.crt".
func (p *pki) path(file string) string { return p.dir + "/" + file }

func certConfig(config certutil.Config) *pkiutil.CertConfig {
	return &pkiutil.CertConfig{
		Config: config, NotAfter: time.Now().Add(validity), EncryptionAlgorithm: kubeadmapi.EncryptionAlgorithmECDSAP256,
	}
}
