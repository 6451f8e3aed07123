// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"
	"slices"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/internal/index"
)

// pass is what one reconcile sees, and what it notes for its end. Steps bring it up to date as they write.
type pass struct {
	now time.Time
	set *gamev1alpha1.GameServerSet
	// workload is nil when the set has none of its own.
	workload *kruisev1beta1.StatefulSet
	// blocked says why the workload must not be touched; nil when it may.
	blocked *finding
	// probes is nil when there is no PodProbeMarker of that name.
	probes *kruisev1alpha1.PodProbeMarker
	// workloadIsLive: the workload was read from the API server, or written, in this pass.
	workloadIsLive bool
	servers        []Server
	// verified are the ids whose servers were read from the API server in this pass.
	verified    idset.Set
	gameServers map[string]*gamev1alpha1.GameServer
	pods        counts
	strays      []string

	probesSettled bool
	findings      []finding
	// noPlan says why the set cannot be scaled; nil when it can, or need not.
	noPlan *finding
	// recheckAfter is when to look again without an event, 0 for never.
	recheckAfter time.Duration
	// unfinished: a write failed, so the workload does not follow this generation of the set yet.
	unfinished bool
}

func (p *pass) found(f finding) { p.findings = append(p.findings, f) }

func (p *pass) recheck(after time.Duration) {
	if p.recheckAfter == 0 || after < p.recheckAfter {
		p.recheckAfter = after
	}
}

// owned is the list option for the pods, or GameServers, of a set in the cache.
func owned(set *gamev1alpha1.GameServerSet) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(set.Namespace),
		client.MatchingFields{index.OwnerGss: set.Name},
		// Thousands of objects, only read.
		client.UnsafeDisableDeepCopy,
		// Other controllers write these all the time; waiting for them would only be slow. Nothing leaves by this list alone.
		client.DisableReadYourWritesConsistency,
	}
}

func (r *Reconciler) observe(ctx context.Context, set *gamev1alpha1.GameServerSet) (*pass, error) {
	p := &pass{now: r.clock.Now(), set: set}
	key := client.ObjectKeyFromObject(set)
	var err error
	if p.workload, err = getOrNil(ctx, r.client, key, &kruisev1beta1.StatefulSet{}); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	p.judgeWorkload()
	if p.probes, err = getOrNil(ctx, r.client, key, &kruisev1alpha1.PodProbeMarker{}); err != nil {
		return nil, fmt.Errorf("reading the probes: %w", err)
	}
	var gameServers gamev1alpha1.GameServerList
	if err := r.client.List(ctx, &gameServers, owned(set)...); err != nil {
		return nil, fmt.Errorf("listing GameServers: %w", err)
	}
	p.gameServers = make(map[string]*gamev1alpha1.GameServer, len(gameServers.Items))
	for i := range gameServers.Items {
		p.gameServers[gameServers.Items[i].Name] = &gameServers.Items[i]
	}
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, owned(set)...); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	p.servers = make([]Server, 0, len(pods.Items))
	for i := range pods.Items {
		p.see(&pods.Items[i])
	}
	slices.Sort(p.strays)
	return p, nil
}

// judgeWorkload finds out whether the workload may be touched (S-6).
func (p *pass) judgeWorkload() {
	if p.workload == nil {
		return
	}
	block := finding{condition: gamev1alpha1.WorkloadReadyCondition}
	switch owner := ownershipOf(p.workload, p.set); {
	case owner == foreign:
		block.reason, block.warn = ReasonNameConflict, true
		block.message = fmt.Sprintf("StatefulSet %s exists and is not controlled by this set; delete it, or give this set another name", p.set.Name)
		p.workload = nil
	case owner == ofEarlierSet:
		block.reason = ReasonEarlierSet
		block.message = fmt.Sprintf("StatefulSet %s of an earlier set of this name is still there", p.set.Name)
		p.workload = nil
	case p.workload.DeletionTimestamp != nil:
		block.reason = ReasonWorkloadEnding
		block.message = fmt.Sprintf("StatefulSet %s is being deleted; it is created anew when it is gone", p.set.Name)
	default:
		return
	}
	p.blocked = &block
}

// see takes a pod of the cache into account.
func (p *pass) see(pod *corev1.Pod) {
	id, ok := idOf(p.set.Name, pod.Name)
	if !ok || !isMember(pod, p.workload) {
		// The pods of an earlier workload of this name are no news; they are on their way out.
		if !isOfStatefulSet(pod, p.set.Name) {
			p.strays = append(p.strays, pod.Name)
		}
		return
	}
	p.pods.add(pod)
	p.servers = append(p.servers, newServer(id, pod, p.gameServers[pod.Name]))
}

func isOfStatefulSet(pod *corev1.Pod, name string) bool {
	controller := metav1.GetControllerOfNoCopy(pod)
	return controller != nil && controller.Kind == kruisev1beta1.SchemeGroupVersion.WithKind("StatefulSet").Kind &&
		controller.Name == name
}

func getOrNil[T client.Object](ctx context.Context, c client.Reader, key client.ObjectKey, into T) (found T, err error) {
	if err := c.Get(ctx, key, into); err != nil {
		return found, client.IgnoreNotFound(err)
	}
	return into, nil
}

// ownership says whose an object with the name of the set is.
type ownership int

const (
	ours ownership = iota
	// ofEarlierSet: of a set of the same name that was deleted; the garbage collector is about to remove it.
	ofEarlierSet
	foreign
)

func ownershipOf(obj client.Object, set *gamev1alpha1.GameServerSet) ownership {
	controller := metav1.GetControllerOfNoCopy(obj)
	switch {
	case controller == nil:
		return foreign
	case controller.UID == set.UID:
		return ours
	case controller.Kind == gamev1alpha1.GameServerSetKind && controller.Name == set.Name:
		return ofEarlierSet
	default:
		return foreign
	}
}

// fewServers is up to how many servers are read one by one; more are listed.
const fewServers = 8

// pageSize is how many objects one request of a long list asks for.
const pageSize = 500

// verify reads the servers with these ids from the API server, past the cache, unless this pass did already. It reports
// whether it read any.
func (r *Reconciler) verify(ctx context.Context, p *pass, ids idset.Set) (bool, error) {
	ids = ids.Minus(p.verified)
	if ids.Empty() {
		return false, nil
	}
	fresh, err := r.readServers(ctx, p, &ids)
	if err != nil {
		return false, fmt.Errorf("reading servers %s before they leave: %w", names(ids), err)
	}
	p.servers = slices.DeleteFunc(p.servers, func(s Server) bool { return ids.Contains(s.ID) })
	p.servers = append(p.servers, fresh...)
	p.verified = p.verified.Union(ids)
	return true, nil
}

// readServers returns the servers of the ids that there are. When it has to list, it widens ids to all there can be.
func (r *Reconciler) readServers(ctx context.Context, p *pass, ids *idset.Set) ([]Server, error) {
	if ids.Len() > fewServers {
		*ids = idset.Range(0, idset.MaxID)
		servers, _, err := r.listServers(ctx, p)
		return servers, err
	}
	var servers []Server
	for id := range ids.All() {
		key := client.ObjectKey{Namespace: p.set.Namespace, Name: fmt.Sprintf("%s-%d", p.set.Name, id)}
		pod, err := getOrNil(ctx, r.live, key, &corev1.Pod{})
		if err != nil {
			return nil, err
		}
		if pod == nil || !isMember(pod, p.workload) {
			continue
		}
		gs, err := getOrNil(ctx, r.live, key, &gamev1alpha1.GameServer{})
		if err != nil {
			return nil, err
		}
		servers = append(servers, newServer(id, pod, gs))
	}
	return servers, nil
}

// listServers returns all servers, and earlier: the ids of pods that another StatefulSet of this name still controls. It
// lets go of them when it was deleted without them, so they may become servers; a pod with a deletion time may not.
func (r *Reconciler) listServers(ctx context.Context, p *pass) (servers []Server, earlier idset.Set, err error) {
	gameServers := map[string]*gamev1alpha1.GameServer{}
	pages, err := listPages(ctx, r.live, p.set, func() *gamev1alpha1.GameServerList { return &gamev1alpha1.GameServerList{} })
	if err != nil {
		return nil, earlier, err
	}
	for _, page := range pages {
		for i := range page.Items {
			gameServers[page.Items[i].Name] = &page.Items[i]
		}
	}
	podPages, err := listPages(ctx, r.live, p.set, func() *corev1.PodList { return &corev1.PodList{} })
	if err != nil {
		return nil, earlier, err
	}
	var earlierIDs []int32
	for _, page := range podPages {
		for i := range page.Items {
			pod := &page.Items[i]
			id, ok := idOf(p.set.Name, pod.Name)
			switch {
			case !ok:
			case isMember(pod, p.workload):
				servers = append(servers, newServer(id, pod, gameServers[pod.Name]))
			case isOfStatefulSet(pod, p.set.Name) && pod.DeletionTimestamp == nil:
				earlierIDs = append(earlierIDs, id)
			}
		}
	}
	return servers, idset.Of(earlierIDs...), nil
}

// listPages lists what carries the label of the set, page by page, past the cache. Every page is a new list, because
// decoding into one that was used would write into its objects.
func listPages[L client.ObjectList](ctx context.Context, c client.Reader, set *gamev1alpha1.GameServerSet, newList func() L) ([]L, error) {
	var pages []L
	for next := ""; ; {
		page := newList()
		err := c.List(ctx, page, client.InNamespace(set.Namespace), client.Limit(pageSize), client.Continue(next),
			client.MatchingLabels{gamev1alpha1.GameServerOwnerGssKey: set.Name})
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if next = page.GetContinue(); next == "" {
			return pages, nil
		}
	}
}

// refresh reads the set and its workload from the API server, past the cache, because what follows is written by them.
// It reports whether both are still there to be written.
func (r *Reconciler) refresh(ctx context.Context, p *pass) (bool, error) {
	if there, err := r.refreshSet(ctx, p); err != nil || !there {
		return false, err
	}
	return r.refreshWorkload(ctx, p)
}

func (r *Reconciler) refreshSet(ctx context.Context, p *pass) (bool, error) {
	key := client.ObjectKeyFromObject(p.set)
	set, err := getOrNil(ctx, r.live, key, &gamev1alpha1.GameServerSet{})
	if err != nil {
		return false, fmt.Errorf("reading the set again: %w", err)
	}
	if set == nil || set.UID != p.set.UID || set.DeletionTimestamp != nil {
		return false, nil
	}
	p.set = set
	return true, nil
}

func (r *Reconciler) refreshWorkload(ctx context.Context, p *pass) (bool, error) {
	if p.workloadIsLive {
		return true, nil
	}
	workload, err := getOrNil(ctx, r.live, client.ObjectKeyFromObject(p.set), &kruisev1beta1.StatefulSet{})
	if err != nil {
		return false, fmt.Errorf("reading the workload again: %w", err)
	}
	if workload == nil || workload.UID != p.workload.UID || workload.DeletionTimestamp != nil {
		return false, nil
	}
	p.workload, p.workloadIsLive = workload, true
	return true, nil
}
