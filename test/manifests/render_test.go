// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/cmd/manager/app"
	"github.com/berthgames/berth/config"
	"github.com/berthgames/berth/webhook/certs"
	"github.com/berthgames/berth/webhook/gameserverset"
	"github.com/berthgames/berth/webhook/pod"
)

const manager = "kruise-game-controller-manager"

// folders are all that people apply, and the groups in them whose kinds are not ours to decode.
func folders() map[string][]string {
	return map[string][]string{
		"crd": nil, "default": nil, "samples": nil, "scheduler": nil, "certmanager": {"cert-manager.io"},
	}
}

func render(t *testing.T, folder string) []client.Object {
	t.Helper()
	objects, err := Render(folder, folders()[folder]...)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func find[T client.Object](t *testing.T, objects []client.Object, name string) T {
	t.Helper()
	object, ok := Find[T](objects, name)
	if !ok {
		t.Fatalf("no %T %q is rendered", object, name)
	}
	return object
}

func TestEveryFolderRendersStrictly(t *testing.T) {
	t.Parallel()
	for folder := range folders() {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			objects := render(t, folder)
			if len(objects) == 0 {
				t.Fatal("nothing is rendered")
			}
			seen := map[string]bool{}
			for _, object := range objects {
				key := object.GetObjectKind().GroupVersionKind().String() + " " + client.ObjectKeyFromObject(object).String()
				if seen[key] {
					t.Errorf("%s is rendered twice", key)
				}
				seen[key] = true
			}
		})
	}
}

// The namespace of the manager enforces the restricted level, and so must every Deployment of ours keep it.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for folder := range folders() {
		for _, object := range render(t, folder) {
			deployment, ok := object.(*appsv1.Deployment)
			if !ok {
				continue
			}
			template := &deployment.Spec.Template
			for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &template.ObjectMeta, &template.Spec) {
				if !result.Allowed {
					t.Errorf("%s in %s: %s: %s", deployment.Name, folder, result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			for _, container := range template.Spec.Containers {
				if c := container.SecurityContext; c == nil || c.ReadOnlyRootFilesystem == nil || !*c.ReadOnlyRootFilesystem {
					t.Errorf("%s in %s can write its root file system (D-12)", deployment.Name, folder)
				}
			}
		}
	}
}

func TestManagerTakesItsArguments(t *testing.T) {
	t.Parallel()
	for folder, generates := range map[string]bool{"default": true, "certmanager": false} {
		deployment := find[*appsv1.Deployment](t, render(t, folder), manager)
		container := deployment.Spec.Template.Spec.Containers[0]
		options := app.NewOptions()
		if err := options.Parse(container.Args); err != nil {
			t.Fatal(err)
		}
		if options.EnableCertGeneration != generates {
			t.Errorf("%s: certificate generation is %t", folder, options.EnableCertGeneration)
		}
		if !options.LeaderElect || *deployment.Spec.Replicas < 2 {
			t.Errorf("%s: leader election %t with %d replicas (D-1)", folder, options.LeaderElect, *deployment.Spec.Replicas)
		}
		declared := map[string]bool{}
		for _, port := range container.Ports {
			declared[strconv.Itoa(int(port.ContainerPort))] = true
		}
		for _, address := range []string{options.MetricsBindAddress, options.HealthProbeBindAddress, options.WebhookBindAddress} {
			if _, port, err := net.SplitHostPort(address); err != nil || !declared[port] {
				t.Errorf("%s: the manager listens at %q, which is no declared port: %v", folder, address, err)
			}
		}
		mounted := func(path string) bool {
			return slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
				return strings.HasPrefix(path, m.MountPath)
			})
		}
		for _, path := range []string{options.ProviderConfig, options.WebhookCertsDir} {
			if !mounted(path) {
				t.Errorf("%s: nothing is mounted at %s", folder, path)
			}
		}
	}
}

// What upstream's Deployment and chart pass has to start this manager too.
// Source: core-webhook-and-scaler.md, sections 6.1 and 6.2.
func TestManagerTakesUpstreamsArguments(t *testing.T) {
	t.Parallel()
	options := app.NewOptions()
	err := options.Parse([]string{
		"--provider-config=/etc/kruise-game/config.toml", "--api-server-qps=5", "--api-server-qps-burst=10",
		"--enable-cert-generation=false", "--leader-elect=false", "--gameserver-workers=10", "--gameserverset-workers=10",
		"--scale-server-bind-address=:6000", "--metrics-bind-address=:8080", "--disable-no-deepcopy", "--zap-log-level=info",
	})
	if err != nil {
		t.Fatal(err)
	}
	if options.APIServerQPS != 5 || options.LeaderElect {
		t.Errorf("the arguments were not taken over: %+v", options)
	}
}

func TestShippedConfigurationLoads(t *testing.T) {
	t.Parallel()
	shipped := find[*corev1.ConfigMap](t, render(t, "default"), "kruise-game-manager-config")
	got, err := config.Load([]byte(shipped.Data["config.toml"]))
	if err != nil {
		t.Fatal(err)
	}
	if got.HwCloud.CCEELB == nil {
		t.Error("the shipped file leaves out a section that upstream has")
	}
	// What upstream ships has to be in it unchanged.
	upstream, err := config.LoadFile(filepath.Join(Root(), "..", "test", "samples", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	got.HwCloud.CCEELB = nil
	if diff := cmp.Diff(upstream, got); diff != "" {
		t.Errorf("shipped configuration (-upstream +ours):\n%s", diff)
	}
}

// W-6, F3: upstream's webhook stood in the way of every update and deletion of a game server while the manager was down.
func TestWebhooksStandInNobodysWay(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"default", "certmanager"} {
		objects := render(t, folder)
		pods := find[*admissionregistrationv1.MutatingWebhookConfiguration](t, objects, certs.MutatingConfiguration)
		if len(pods.Webhooks) != 1 {
			t.Fatalf("%d entries", len(pods.Webhooks))
		}
		hook := pods.Webhooks[0]
		wantRules := []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: hook.Rules[0].Scope,
			},
		}}
		if diff := cmp.Diff(wantRules, hook.Rules); diff != "" {
			t.Errorf("rules of the pod webhook (-want +got):\n%s", diff)
		}
		if hook.ObjectSelector == nil || len(hook.ObjectSelector.MatchExpressions) != 1 {
			t.Error("the pod webhook is called for pods that are not ours (G02)")
		}
		if *hook.FailurePolicy != admissionregistrationv1.Fail || *hook.SideEffects != admissionregistrationv1.SideEffectClassNoneOnDryRun {
			t.Errorf("failure policy %s, side effects %s", *hook.FailurePolicy, *hook.SideEffects)
		}
		sets := find[*admissionregistrationv1.ValidatingWebhookConfiguration](t, objects, certs.ValidatingConfiguration).Webhooks[0]
		reference := app.NewOptions()
		for path, client := range map[string]admissionregistrationv1.WebhookClientConfig{pod.Path: hook.ClientConfig, gameserverset.Path: sets.ClientConfig} {
			s := client.Service
			if s == nil || *s.Path != path || s.Name != reference.WebhookServiceName || s.Namespace != reference.WebhookServiceNamespace {
				t.Errorf("path %s is served for %+v", path, s)
			}
		}
		injected := pods.Annotations["cert-manager.io/inject-ca-from"] != ""
		if injected != (folder == "certmanager") {
			t.Errorf("%s: injection by cert-manager is %t", folder, injected)
		}
	}
}

// rights lists what a service account may do, as "group/resource[name] verb".
func rights(objects []client.Object, account string) []string {
	mine := func(subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool { return s.Name == account })
	}
	rules := map[string][]rbacv1.PolicyRule{}
	var bound []string
	for _, object := range objects {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			rules["ClusterRole/"+o.Name] = o.Rules
		case *rbacv1.Role:
			rules["Role/"+o.Name] = o.Rules
		case *rbacv1.ClusterRoleBinding:
			if mine(o.Subjects) {
				bound = append(bound, o.RoleRef.Kind+"/"+o.RoleRef.Name)
			}
		case *rbacv1.RoleBinding:
			if mine(o.Subjects) {
				bound = append(bound, o.RoleRef.Kind+"/"+o.RoleRef.Name)
			}
		}
	}
	var all []string
	for _, role := range bound {
		for _, rule := range rules[role] {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all = append(all, group+"/"+resource+"["+strings.Join(rule.ResourceNames, ",")+"] "+verb)
					}
				}
			}
		}
	}
	return all
}

// D-11: upstream's manager may write CRDs, every webhook configuration, Services and more.
func TestManagerHasNoMoreRightsThanItNeeds(t *testing.T) {
	t.Parallel()
	writable := []string{
		"/events[] create", "/events[] patch", "/pods[] patch", "/pods/finalizers[] update",
		"apps.kruise.io/podprobemarkers[] create", "apps.kruise.io/podprobemarkers[] patch", "apps.kruise.io/podprobemarkers[] delete",
		"apps.kruise.io/statefulsets[] create", "apps.kruise.io/statefulsets[] patch",
		"coordination.k8s.io/leases[] create", "coordination.k8s.io/leases[game-kruise-manager] update",
		"events.k8s.io/events[] create", "events.k8s.io/events[] patch",
		"game.kruise.io/gameservers[] create", "game.kruise.io/gameservers[] patch", "game.kruise.io/gameservers[] delete",
		"game.kruise.io/gameserversets[] patch", "game.kruise.io/gameserversets/finalizers[] update",
		"game.kruise.io/gameservers/status[] patch", "game.kruise.io/gameserversets/status[] patch",
	}
	generation := []string{
		"/secrets[" + certs.SecretName + "] update",
		"admissionregistration.k8s.io/mutatingwebhookconfigurations[" + certs.MutatingConfiguration + "] update",
		"admissionregistration.k8s.io/validatingwebhookconfigurations[" + certs.ValidatingConfiguration + "] update",
	}
	for folder, extra := range map[string][]string{"default": generation, "certmanager": nil} {
		var got []string
		for _, right := range rights(render(t, folder), manager) {
			resource, verb, _ := strings.Cut(right, " ")
			if strings.Contains(right, "*") {
				t.Errorf("%s: %s is a wildcard", folder, right)
			}
			if strings.HasPrefix(resource, "/secrets[]") {
				t.Errorf("%s: the manager may read every Secret", folder)
			}
			if !slices.Contains([]string{"get", "list", "watch"}, verb) {
				got = append(got, right)
			}
		}
		want := slices.Concat(writable, extra)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: what the manager may write (-want +got):\n%s", folder, diff)
		}
	}
}

// The code says in markers what it does with which kind; the role has to allow it.
func TestManagerMayDoWhatItsCodeSays(t *testing.T) {
	t.Parallel()
	granted := rights(render(t, "default"), manager)
	marker := regexp.MustCompile(`// \+kubebuilder:rbac:groups=([^,]*),resources=([^,]*),verbs=(\S+)`)
	found := 0
	for _, folder := range []string{"controllers", "network", "webhook"} {
		err := filepath.WalkDir(filepath.Join(Root(), "..", folder), func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, match := range marker.FindAllStringSubmatch(string(text), -1) {
				found++
				for _, resource := range strings.Split(match[2], ";") {
					for _, verb := range strings.Split(match[3], ";") {
						right := strings.Trim(match[1], `"`) + "/" + resource + "[] " + verb
						if !slices.Contains(granted, right) {
							t.Errorf("%s needs %q", path, right)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no marker was found")
	}
}

func TestFilesBeginWithTheLicence(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(Root(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(filepath.Dir(path)) == "crd" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(text), "# SPDX-License-Identifier: Apache-2.0\n") {
			t.Errorf("%s has no licence line", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
