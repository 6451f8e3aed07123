// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Options are the flags of the manager. Names and meanings are upstream's, so that arguments people have keep working;
// where a default differs, the flag's help says why. Source: core-webhook-and-scaler.md, sections 1.2 and 5.1.
type Options struct {
	MetricsBindAddress     string
	HealthProbeBindAddress string
	PprofBindAddress       string

	LeaderElect bool
	Namespace   string
	SyncPeriod  time.Duration

	APIServerQPS   int
	APIServerBurst int

	GameServerWorkers    int
	GameServerSetWorkers int

	ProviderConfig string
	Kubeconfig     string

	WebhookPort             int
	WebhookBindAddress      string
	WebhookCertsDir         string
	WebhookServiceNamespace string
	WebhookServiceName      string
	EnableCertGeneration    bool

	webhookHost string
	log         zap.Options
	flags       *flag.FlagSet
}

// withoutEffect are flags of upstream that are accepted, so that its arguments start this manager, and do nothing.
func withoutEffect() map[string]string {
	return map[string]string{
		"scale-server-bind-address": "address of the KEDA external scaler, which this version does not serve",
		"disable-no-deepcopy":       "has no effect: shared objects of the cache are never changed here",
	}
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	o := &Options{flags: flag.NewFlagSet("manager", flag.ContinueOnError)}
	zap.ConsoleEncoder()(&o.log)
	fs := o.flags
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.MetricsBindAddress, "metrics-bind-address", ":8080", `address of /metrics; "0" is off`)
	fs.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8082", "address of /healthz and /readyz")
	fs.StringVar(&o.PprofBindAddress, "pprof-bind-address", "", "address of /debug/pprof/; empty is off")
	fs.BoolVar(&o.LeaderElect, "leader-elect", true,
		"let one replica at a time run the controllers. Switch it off only for a single process: two would work against each other")
	fs.StringVar(&o.Namespace, "namespace", "", "work in this namespace only; empty is all")
	fs.Func("sync-period", "time between two looks at objects that did not change, such as 30m; empty is 10 hours", func(text string) (err error) {
		if text != "" {
			o.SyncPeriod, err = time.ParseDuration(text)
		}
		return err
	})
	fs.IntVar(&o.APIServerQPS, "api-server-qps", 0,
		"most requests per second to the API server; 0 is no limit of ours, since the API server's priority and fairness shares its time out")
	fs.IntVar(&o.APIServerBurst, "api-server-qps-burst", 0, "most requests at once beyond --api-server-qps; 0 is twice as many")
	fs.IntVar(&o.GameServerWorkers, "gameserver-workers", 10, "GameServers, and networks of pods, that are worked on at the same time")
	fs.IntVar(&o.GameServerSetWorkers, "gameserverset-workers", 10, "GameServerSets that are worked on at the same time")
	fs.StringVar(&o.ProviderConfig, "provider-config", "/etc/kruise-game/config.toml", "file that says which network providers are on, and their ports")
	fs.IntVar(&o.WebhookPort, "webhook-port", 9876, "port of the admission webhook, on all addresses")
	fs.StringVar(&o.WebhookBindAddress, "webhook-bind-address", "", "address of the admission webhook, host:port; empty is all addresses at --webhook-port")
	fs.StringVar(&o.WebhookCertsDir, "webhook-server-certs-dir", "/tmp/webhook-certs/", "folder of tls.crt and tls.key; written when certificates are generated, so it must be writable then")
	fs.StringVar(&o.WebhookServiceNamespace, "webhook-service-namespace", "kruise-game-system", "namespace of the webhook's Service and of the certificate's Secret")
	fs.StringVar(&o.WebhookServiceName, "webhook-service-name", "kruise-game-webhook-service", "name of the webhook's Service")
	fs.BoolVar(&o.EnableCertGeneration, "enable-cert-generation", true,
		"make and renew the webhook's certificate, kept in Secret kruise-game-certs, and put its authority into the webhook configurations; "+
			"otherwise the files must exist, from cert-manager for example")
	for name, help := range withoutEffect() {
		if name == "disable-no-deepcopy" {
			fs.Bool(name, false, help)
			continue
		}
		fs.String(name, "", help)
	}
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "", "file that says how to reach the cluster; empty is the KUBECONFIG variable, else the cluster this runs in")
	o.log.BindFlags(fs)
	return o
}

// Parse reads the arguments and checks them. It returns flag.ErrHelp when help was asked for.
func (o *Options) Parse(args []string) error {
	if err := o.flags.Parse(args); err != nil {
		return err
	}
	if o.flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", o.flags.Arg(0))
	}
	return errors.Join(o.webhookAddress(), o.validate())
}

// webhookAddress takes --webhook-bind-address apart; its port wins over --webhook-port.
func (o *Options) webhookAddress() error {
	if o.WebhookBindAddress == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(o.WebhookBindAddress)
	if err != nil {
		return fmt.Errorf("--webhook-bind-address=%s: must be host:port", o.WebhookBindAddress)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("--webhook-bind-address=%s: the port must be a number", o.WebhookBindAddress)
	}
	o.webhookHost, o.WebhookPort = host, number
	return nil
}

func (o *Options) validate() error {
	var errs []error
	check := func(ok bool, name string, value any, rule string) {
		if !ok {
			errs = append(errs, fmt.Errorf("--%s=%v: %s", name, value, rule))
		}
	}
	check(o.WebhookPort >= 1 && o.WebhookPort <= 65535, "webhook-port", o.WebhookPort, "must be from 1 to 65535")
	check(o.WebhookCertsDir != "", "webhook-server-certs-dir", o.WebhookCertsDir, "must not be empty")
	check(o.WebhookServiceName != "", "webhook-service-name", o.WebhookServiceName, "must not be empty")
	check(o.WebhookServiceNamespace != "", "webhook-service-namespace", o.WebhookServiceNamespace, "must not be empty")
	check(o.GameServerWorkers >= 1, "gameserver-workers", o.GameServerWorkers, "must be at least 1")
	check(o.GameServerSetWorkers >= 1, "gameserverset-workers", o.GameServerSetWorkers, "must be at least 1")
	check(o.APIServerQPS >= 0, "api-server-qps", o.APIServerQPS, "must not be negative")
	check(o.APIServerBurst >= 0, "api-server-qps-burst", o.APIServerBurst, "must not be negative")
	check(o.SyncPeriod >= 0, "sync-period", o.SyncPeriod, "must not be negative")
	check(o.ProviderConfig != "", "provider-config", o.ProviderConfig, "must name a file")
	return errors.Join(errs...)
}

// PrintHelp writes all flags.
func (o *Options) PrintHelp(to io.Writer) {
	o.flags.SetOutput(to)
	o.flags.PrintDefaults()
}

// logger makes the logger of the process.
func (o *Options) logger() logr.Logger { return zap.New(zap.UseFlagOptions(&o.log)) }

// announce tells once of flags that were given and have no effect.
func (o *Options) announce(log logr.Logger) {
	without := withoutEffect()
	o.flags.Visit(func(f *flag.Flag) {
		if why, ok := without[f.Name]; ok {
			log.Info("Flag has no effect", "flag", f.Name, "value", f.Value.String(), "why", why)
		}
	})
}
