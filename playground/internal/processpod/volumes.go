// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// Sources looks up what pods refer to. Missing objects are API errors of the kind NotFound.
type Sources interface {
	ConfigMap(namespace, name string) (*corev1.ConfigMap, error)
	Secret(namespace, name string) (*corev1.Secret, error)
	// Token returns a token of a service account. No audience means the API server.
	Token(ctx context.Context, namespace, account, audience string) (string, error)
}

// fileMode of projected files where the manifest gives none. Source: API documentation of defaultMode.
const fileMode = int32(0o644)

type payload map[string]volumeutil.FileProjection

// volumes fills the volumes of one pod.
type volumes struct {
	sources    Sources
	namespace  string
	account    string
	kubeconfig string // for configuration files of schedulers
}

// write brings the folder of a volume up to date. The files of a volume change all at once.
func (v volumes) write(ctx context.Context, folder string, volume corev1.Volume) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making folder of volume %s: %w", volume.Name, err)
	}
	if volume.EmptyDir != nil {
		return nil
	}
	files, err := v.payload(ctx, volume)
	if err != nil {
		return fmt.Errorf("volume %s: %w", volume.Name, err)
	}
	for name, file := range files {
		if file.Data, err = withKubeconfig(file.Data, v.kubeconfig); err != nil {
			return fmt.Errorf("volume %s: %s: %w", volume.Name, name, err)
		}
		files[name] = file
	}
	writer, err := volumeutil.NewAtomicWriter(folder, "process pod volume "+volume.Name)
	if err != nil {
		return fmt.Errorf("volume %s: %w", volume.Name, err)
	}
	if err := writer.Write(files, nil); err != nil {
		return fmt.Errorf("writing volume %s: %w", volume.Name, err)
	}
	return nil
}

func (v volumes) payload(ctx context.Context, volume corev1.Volume) (payload, error) {
	switch {
	case volume.ConfigMap != nil:
		s := volume.ConfigMap
		return v.configMap(s.Name, s.Items, s.DefaultMode, ptr.Deref(s.Optional, false))
	case volume.Secret != nil:
		s := volume.Secret
		return v.secret(s.SecretName, s.Items, s.DefaultMode, ptr.Deref(s.Optional, false))
	default:
		return v.projected(ctx, volume.Projected)
	}
}

func (v volumes) configMap(name string, items []corev1.KeyToPath, mode *int32, optional bool) (payload, error) {
	object, err := v.sources.ConfigMap(v.namespace, name)
	if optional && apierrors.IsNotFound(err) {
		object, err = &corev1.ConfigMap{}, nil
	}
	if err != nil {
		return nil, err
	}
	return configmap.MakePayload(items, object, ptr.To(ptr.Deref(mode, fileMode)), nil, optional)
}

func (v volumes) secret(name string, items []corev1.KeyToPath, mode *int32, optional bool) (payload, error) {
	object, err := v.sources.Secret(v.namespace, name)
	if optional && apierrors.IsNotFound(err) {
		object, err = &corev1.Secret{}, nil
	}
	if err != nil {
		return nil, err
	}
	return secret.MakePayload(items, object, ptr.To(ptr.Deref(mode, fileMode)), nil, optional)
}

func (v volumes) projected(ctx context.Context, p *corev1.ProjectedVolumeSource) (payload, error) {
	all := payload{}
	for _, source := range p.Sources {
		var (
			files payload
			err   error
		)
		switch {
		case source.ConfigMap != nil:
			s := source.ConfigMap
			files, err = v.configMap(s.Name, s.Items, p.DefaultMode, ptr.Deref(s.Optional, false))
		case source.Secret != nil:
			s := source.Secret
			files, err = v.secret(s.Name, s.Items, p.DefaultMode, ptr.Deref(s.Optional, false))
		case source.ServiceAccountToken != nil:
			var token string
			token, err = v.sources.Token(ctx, v.namespace, v.account, source.ServiceAccountToken.Audience)
			files = payload{source.ServiceAccountToken.Path: {Data: []byte(token), Mode: 0o600}}
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

// withKubeconfig sets clientConnection.kubeconfig in a KubeSchedulerConfiguration. Other content stays as it is.
func withKubeconfig(content []byte, kubeconfig string) ([]byte, error) {
	config, ok := schedulerConfig(content)
	if !ok {
		return content, nil
	}
	connection, ok := config["clientConnection"].(map[string]any)
	if !ok {
		connection = map[string]any{}
	}
	connection["kubeconfig"] = kubeconfig
	config["clientConnection"] = connection
	changed, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding scheduler configuration: %w", err)
	}
	return changed, nil
}

// schedulerConfig returns the fields of a KubeSchedulerConfiguration, and false for anything else, YAML or not.
func schedulerConfig(content []byte) (map[string]any, bool) {
	var config map[string]any
	err := yaml.Unmarshal(content, &config)
	version, _ := config["apiVersion"].(string)
	return config, err == nil && config["kind"] == "KubeSchedulerConfiguration" && strings.HasPrefix(version, "kubescheduler.config.k8s.io/")
}

// mountsOf returns where the mounts of a container are on this machine. folder holds a folder per volume.
func mountsOf(c *corev1.Container, folder string) []mount {
	mounts := make([]mount, 0, len(c.VolumeMounts))
	for _, m := range c.VolumeMounts {
		mounts = append(mounts, mount{
			path: filepath.Clean(m.MountPath), target: filepath.Join(folder, m.Name, m.SubPath),
		})
	}
	return mounts
}

// refersTo tells whether a volume or variable of the pod takes its content from the ConfigMap or Secret.
func refersTo(spec *corev1.PodSpec, configMap, secret string) bool {
	for _, v := range spec.Volumes {
		if volumeRefersTo(v, configMap, secret) {
			return true
		}
	}
	return slices.ContainsFunc(spec.Containers[0].Env, func(e corev1.EnvVar) bool {
		from := ptr.Deref(e.ValueFrom, corev1.EnvVarSource{})
		return from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == configMap ||
			from.SecretKeyRef != nil && from.SecretKeyRef.Name == secret
	})
}

func volumeRefersTo(v corev1.Volume, configMap, secret string) bool {
	if v.ConfigMap != nil && v.ConfigMap.Name == configMap || v.Secret != nil && v.Secret.SecretName == secret {
		return true
	}
	projected := ptr.Deref(v.Projected, corev1.ProjectedVolumeSource{})
	return slices.ContainsFunc(projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.ConfigMap != nil && s.ConfigMap.Name == configMap || s.Secret != nil && s.Secret.Name == secret
	})
}
