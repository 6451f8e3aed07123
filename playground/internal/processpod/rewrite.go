// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berthgames/berth/playground/internal/freeport"
)

// rewriteListen returns the value of a flag or variable called name with declared ports replaced by those they are
// mapped to, and every address that means all interfaces replaced by the loopback address:
//
//	--webhook-port=9876          a number, and the name ends in "port"     --webhook-port=20017
//	--metrics-bind-address=:8080 host and number, whatever the name        --metrics-bind-address=127.0.0.1:20018
//	--bind-address=0.0.0.0       an address only, whatever the name        --bind-address=127.0.0.1
//
// The host must be empty, unspecified (0.0.0.0, ::) or loopback; anything else is an address to talk to and stays, and
// so do numbers that are not declared.
func rewriteListen(name, value string, ports map[int32]int) string {
	if strings.HasSuffix(strings.ToLower(name), "port") {
		if local, ok := lookup(value, ports); ok {
			return strconv.Itoa(local)
		}
		return value
	}
	if ip, err := netip.ParseAddr(value); err == nil && ip.IsUnspecified() {
		return freeport.Host
	}
	host, port, err := net.SplitHostPort(value)
	if err != nil || !isLocal(host) {
		return value
	}
	if local, ok := lookup(port, ports); ok {
		return freeport.Address(local)
	}
	if port == "0" && isEverywhere(host) {
		return freeport.Address(0)
	}
	return value
}

// undeclared returns the port that a flag or variable has the process listen on at all interfaces without it being
// declared, or "". Such a port cannot be mapped, so replicas would fight for it.
func undeclared(value string, ports map[int32]int) string {
	host, port, err := net.SplitHostPort(value)
	if err != nil || !isEverywhere(host) || port == "0" {
		return ""
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "" // no number, so no address
	}
	if _, ok := lookup(port, ports); ok {
		return ""
	}
	return port
}

func lookup(port string, ports map[int32]int) (int, bool) {
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return 0, false
	}
	local, ok := ports[int32(number)]
	return local, ok
}

func isEverywhere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
}

func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return isEverywhere(host) || host == "localhost" || (err == nil && ip.IsLoopback())
}

// rewriteArgs applies rewrite to the values of all flags, whether they are joined to the name by "=" or are the next
// argument. Arguments that are no flags get an empty name.
func rewriteArgs(args []string, rewrite func(name, value string) string) []string {
	out := slices.Clone(args)
	pending := "" // the flag before, if it may take the next argument as its value
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			out[i] = rewrite(pending, arg)
			pending = ""
		case joined:
			out[i] = name + "=" + rewrite(name, value)
			pending = ""
		default:
			pending = name
		}
	}
	return out
}

// mount is a path in the container and the folder or file that stands for it.
type mount struct{ path, target string }

// rewritePaths replaces mount paths in text by their targets. A mount path counts where it is a whole path or the start
// of one; of mounts within mounts the longest counts. Targets are not looked into again.
func rewritePaths(text string, mounts []mount) string {
	sorted := slices.SortedFunc(slices.Values(mounts), func(a, b mount) int { return cmp.Compare(len(b.path), len(a.path)) })
	var out strings.Builder
	for i := 0; i < len(text); {
		m, ok := mountAt(text, i, sorted)
		if !ok {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(m.target)
		i += len(m.path)
	}
	return out.String()
}

// mountAt returns the mount whose path stands in text at offset i.
func mountAt(text string, i int, mounts []mount) (mount, bool) {
	const separators = `=,:;"' `
	if i > 0 && !strings.ContainsRune(separators, rune(text[i-1])) {
		return mount{}, false
	}
	for _, m := range mounts {
		rest, ok := strings.CutPrefix(text[i:], m.path)
		if ok && (rest == "" || strings.ContainsRune(separators+"/", rune(rest[0]))) {
			return m, true
		}
	}
	return mount{}, false
}
