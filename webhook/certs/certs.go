// SPDX-License-Identifier: Apache-2.0

// Package certs gives the webhook server its certificate, and the API server the authority to trust it.
//
//	generation on    leader: rotator ── Secret ──▶ every replica: folder ──▶ webhook server (reloads)
//	                          └─ caBundle of our two webhook configurations
//	generation off   cert-manager ── Secret, mounted by the kubelet ──▶ folder ──▶ webhook server (reloads)
//
// One Secret is shared by all replicas, made and renewed by the leader alone. Upstream made a certificate per replica, and
// the last one to start owned the caBundle (fault W-12).
package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// Names of objects and files. They are upstream's.
const (
	SecretName              = "kruise-game-certs"
	MutatingConfiguration   = "kruise-game-mutating-webhook"
	ValidatingConfiguration = "kruise-game-validating-webhook"
	CertFile                = "tls.crt"
	KeyFile                 = "tls.key"
)

// Options say where certificates come from and whom they are for.
type Options struct {
	// Generate makes and renews certificates here; otherwise the files must exist in Dir and somebody else renews them.
	Generate bool
	// Dir is the folder the webhook server reads.
	Dir string
	// ServiceName and ServiceNamespace are the Service in the webhook configurations. The Secret has the same namespace.
	ServiceName, ServiceNamespace string
	// FieldOwner is the field manager of writes.
	FieldOwner string
}

func (o Options) secret() types.NamespacedName {
	return types.NamespacedName{Namespace: o.ServiceNamespace, Name: SecretName}
}

func (o Options) host() string { return o.ServiceName + "." + o.ServiceNamespace + ".svc" }

// hosts are all names the certificate is for. localhost serves port forwarding and clusters on one machine.
func (o Options) hosts() []string {
	return []string{o.host(), o.ServiceName + "." + o.ServiceNamespace, o.host() + ".cluster.local", "localhost"}
}

// CacheByObject narrows a manager's cache to the few objects of this package, each by its name, so that the manager needs
// no right to read other Secrets or webhook configurations.
func CacheByObject(o Options) map[client.Object]cache.ByObject {
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Namespaces: map[string]cache.Config{o.ServiceNamespace: {FieldSelector: named(SecretName)}}},
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   {Field: named(MutatingConfiguration)},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {Field: named(ValidatingConfiguration)},
	}
}

// Certificates tell when the webhook server can start and whether the API server can trust it.
type Certificates struct {
	dir     string
	reader  client.Reader
	present chan struct{}
	once    sync.Once
}

// Setup adds what provides the certificates to the manager. With generation off the files must be there.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) (*Certificates, error) {
	c := &Certificates{dir: o.Dir, reader: mgr.GetClient(), present: make(chan struct{})}
	for object := range CacheByObject(o) {
		if _, isSecret := object.(*corev1.Secret); isSecret && !o.Generate {
			continue
		}
		if _, err := mgr.GetCache().GetInformer(ctx, object); err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	if !o.Generate {
		if _, err := c.serving(); err != nil {
			return nil, fmt.Errorf("without certificate generation %s and %s must be in %s: %w", CertFile, KeyFile, o.Dir, err)
		}
		c.announce()
		return c, nil
	}
	if err := addFolder(mgr, c, o); err != nil {
		return nil, err
	}
	if err := rotator.AddRotator(narrow(mgr, o), &rotator.CertRotator{
		SecretKey:             o.secret(),
		CertDir:               o.Dir,
		CAName:                "kruise-game-ca",
		CAOrganization:        "kruise-game",
		DNSName:               o.host(),
		ExtraDNSNames:         o.hosts()[1:],
		IsReady:               make(chan struct{}),
		FieldOwner:            o.FieldOwner,
		RequireLeaderElection: true,
		// Otherwise the rotator's start and its controller both make the first certificate, and one of them fails.
		EnableReadinessCheck: true,
		Webhooks: []rotator.WebhookInfo{
			{Name: MutatingConfiguration, Type: rotator.Mutating},
			{Name: ValidatingConfiguration, Type: rotator.Validating},
		},
	}); err != nil {
		return nil, fmt.Errorf("adding the certificate rotator: %w", err)
	}
	return c, nil
}

// Present is closed when the files are in the folder for the first time.
func (c *Certificates) Present() <-chan struct{} { return c.present }

func (c *Certificates) announce() { c.once.Do(func() { close(c.present) }) }

// serving reads the certificate that the webhook server serves.
func (c *Certificates) serving() (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(c.dir, CertFile), filepath.Join(c.dir, KeyFile))
}

// addFolder keeps the folder in step with the Secret on every replica, within moments: the kubelet would take up to a
// minute to refresh a mounted Secret.
func addFolder(mgr ctrl.Manager, c *Certificates, o Options) error {
	every := false
	err := ctrl.NewControllerManagedBy(mgr).
		Named("webhook-certificates").
		For(&corev1.Secret{}).
		WithOptions(controller.Options{NeedLeaderElection: &every}).
		Complete(&folder{reader: mgr.GetClient(), dir: o.Dir, secret: o.secret(), written: c.announce})
	if err != nil {
		return fmt.Errorf("adding the controller of the certificate folder: %w", err)
	}
	return nil
}
