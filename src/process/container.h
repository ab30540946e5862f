/* Containers, by the names that their engines give to control groups:
 *
 *	docker-ID.scope  docker/ID           Docker
 *	libpod-ID.scope                      Podman
 *	cri-containerd-ID.scope  crio-ID.scope  kubepods/.../podUID/ID    Kubernetes
 *	kubepods-...-podUID.slice  kubepods/.../podUID    a pod: the containers in it
 *	lxc.payload.NAME  lxc/NAME           LXC, Incus, LXD
 *	machine-NAME.scope                   systemd-nspawn
 *
 * ID has 64 hexadecimal digits. */
#pragma once
#include "process/cgroup.h"

struct container {
	const char *folder; /* its control group */
	const char *id;     /* ID, or UID of a pod; NULL: it has a name only */
	const char *name;   /* NULL: not known */
};

typedef VEC(struct container) container_list;

/* Adds those groups that are containers. The names of Docker's and Podman's are in state files, as
 * far as we may read them: below `root`, which is "" but for tests, and there in the storage of
 * root or of the user who owns the group. */
void containers_among(const cgroup_list *groups, const char *root, struct arena *a,
		      container_list *out);
/* Keeps those that have the name or, if none has, those whose ID begins with it: at least four
 * digits. */
void containers_keep(container_list *containers, const char *name);
