// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// TypeOf is the network type of a pod, empty when it has no network.
func TypeOf(pod *corev1.Pod) string {
	return pod.Annotations[gamev1alpha1.GameServerNetworkType]
}

// PodOf reads the network of a pod from its annotations and labels. The bool is false, and the view nil, when the pod has
// no network: the type is missing or empty.
//
// A parameter list that cannot be read is a ParameterError that names the annotation and the text. The view is returned
// beside it, without Params, so that the caller can still report under the pod's type. A status that cannot be read
// counts as not reported, and a disabled label that is no boolean as not disabled: both are written anew by their owners.
func PodOf(pod *corev1.Pod) (*Pod, bool, error) {
	networkType := TypeOf(pod)
	if networkType == "" {
		return nil, false, nil
	}
	view := &Pod{Pod: pod, Type: networkType}
	view.Disabled, _ = strconv.ParseBool(pod.Labels[gamev1alpha1.GameServerNetworkDisabled])
	if status, err := DecodeStatus(pod.Annotations[gamev1alpha1.GameServerNetworkStatus]); err == nil {
		view.Status = status
	}
	params, err := paramsOf(pod)
	if err != nil {
		return view, true, err
	}
	view.Params = params
	return view, true, nil
}

func paramsOf(pod *corev1.Pod) ([]gamev1alpha1.NetworkConfParams, error) {
	text := pod.Annotations[gamev1alpha1.GameServerNetworkConf]
	if text == "" {
		return nil, nil
	}
	var params []gamev1alpha1.NetworkConfParams
	if err := json.Unmarshal([]byte(text), &params); err != nil {
		path := field.NewPath("metadata", "annotations").Key(gamev1alpha1.GameServerNetworkConf)
		return nil, AsParameterError(field.ErrorList{field.Invalid(path, shorten(text),
			fmt.Sprintf(`must be a JSON list of {"name","value"} objects: %v`, err))})
	}
	return params, nil
}
