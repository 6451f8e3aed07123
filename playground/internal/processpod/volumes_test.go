// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestVolumesHoldWhatTheyName(t *testing.T) {
	t.Parallel()
	sources := fakeSources{
		configMaps: map[string]*corev1.ConfigMap{"cm": {Data: map[string]string{"a": "1", "b": "2"}}},
		secrets:    map[string]*corev1.Secret{"s": {Data: map[string][]byte{"key": []byte("3")}}},
	}
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	cases := map[string]struct {
		source  corev1.VolumeSource
		want    map[string]string
		wantErr string
	}{
		"an empty folder": {source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, want: map[string]string{}},
		"a config map": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("cm")}},
			want:   map[string]string{"a": "1", "b": "2"},
		},
		"some keys under other names": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: local("cm"), Items: []corev1.KeyToPath{{Key: "b", Path: "sub/c"}},
			}},
			want: map[string]string{"sub/c": "2"},
		},
		"a secret": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
			want:   map[string]string{"key": "3"},
		},
		"a missing secret": {
			source:  corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}},
			want:    map[string]string{},
			wantErr: `volume v: secrets "x" not found`,
		},
		"a missing secret that may be missing": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x", Optional: ptr.To(true)}},
			want:   map[string]string{},
		},
		"several sources together": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local("cm"), Items: []corev1.KeyToPath{{Key: "a", Path: "a"}}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: local("s")}},
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "me"}},
			}}},
			want: map[string]string{"a": "1", "key": "3", "token": `token of ns/sa for "me"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "v")
			v := volumes{sources: sources, namespace: "ns", account: "sa", kubeconfig: "/kubeconfig"}
			err := v.write(t.Context(), folder, corev1.Volume{Name: "v", VolumeSource: tc.source})
			if message := errorText(err); message != tc.wantErr {
				t.Errorf("error %q, want %q", message, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, files(t, folder)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVolumesFollowTheirSource(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "v")
	secret := &corev1.Secret{}
	v := volumes{sources: fakeSources{secrets: map[string]*corev1.Secret{"s": secret}}, namespace: "ns"}
	volume := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}
	for _, want := range []map[string]string{{}, {"a": "1", "b": "2"}, {"b": "3"}, {"b": "3"}} {
		secret.Data = map[string][]byte{}
		for key, value := range want {
			secret.Data[key] = []byte(value)
		}
		if err := v.write(t.Context(), folder, volume); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, files(t, folder)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

func TestWithKubeconfig(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	cases := map[string]struct{ content, want string }{
		"a scheduler configuration": {
			content: head + "profiles: []\n",
			want:    "apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n  kubeconfig: /k\nkind: KubeSchedulerConfiguration\nprofiles: []\n",
		},
		"one with a client connection": {
			content: head + "clientConnection: {qps: 5, kubeconfig: /old}\n",
			want:    "apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n  kubeconfig: /k\n  qps: 5\nkind: KubeSchedulerConfiguration\n",
		},
		"another kind": {content: "apiVersion: v1\nkind: ConfigMap\n# kept\n", want: "apiVersion: v1\nkind: ConfigMap\n# kept\n"},
		"no YAML":      {content: "[section]\nkey = 1\n", want: "[section]\nkey = 1\n"},
		"nothing":      {},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := withKubeconfig([]byte(tc.content), "/k")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefersTo(t *testing.T) {
	t.Parallel()
	spec := &deployment(func(s *corev1.PodSpec, c *corev1.Container) {
		s.Volumes = []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "certs"}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}},
			}}}},
		}
		c.Env = []corev1.EnvVar{{Name: "V", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "token"},
		}}}}
	}).Spec.Template.Spec
	cases := map[string]struct {
		configMap, secret string
		want              bool
	}{
		"a secret in a volume":              {secret: "certs", want: true},
		"a config map in a volume":          {configMap: "config", want: true},
		"a secret in a variable":            {secret: "token", want: true},
		"a config map called like a secret": {configMap: "certs"},
		"something else":                    {secret: "other"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := refersTo(spec, tc.configMap, tc.secret); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// files returns what a process sees in a folder: content by path, links followed, without the writer's own entries.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			for name, content := range files(t, path) {
				found[filepath.Join(entry.Name(), name)] = content
			}
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = string(content)
	}
	return found
}
