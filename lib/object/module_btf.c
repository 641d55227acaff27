// SPDX-License-Identifier: BSD-2-Clause
/*
 * The BTF of modules is split BTF over the kernel's own. The kernel gives it out
 * in two ways (both since 5.11): by id, with bpf(2), which needs CAP_SYS_ADMIN;
 * and as a file /sys/kernel/btf/MODULE, which everybody may read. What refers
 * to a function, variable or struct of a module needs a descriptor, and so the
 * id. CO-RE needs only the types. So modules are listed by id, and in sysfs
 * where that is not permitted.
 *
 * A distribution's kernel has a hundred modules and more with a few megabytes of
 * BTF. So nothing is read before an object asks for something that the kernel
 * proper does not have, and each module is read once per object.
 *
 * A module may be unloaded at any moment. One that is gone when it is read is
 * as if it had never been there. One that is there and cannot be read is left
 * out too, but counted: an error about a missing type mentions it.
 */
#include "lib/object/prepare.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/object/btf_load.h"
#include "lib/sys/sys.h"

static struct error *add_module(struct loaded_modules *modules, const char *name, uint32_t id)
{
	struct loaded_module *module = vec_push(&modules->v);

	if (!module)
		return error_nomem();
	*module = (struct loaded_module){.name = strdup(name), .id = id};
	return module->name ? NULL : error_nomem();
}

/* *permitted false: this process may not ask for ids. */
static struct error *list_by_id(struct loaded_modules *modules, bool *permitted)
{
	uint32_t id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		_cleanup_close_ int fd = bpf_btf_get_fd_by_id(id);
		char name[64] = "";
		struct bpf_btf_info info = {
			.name = (uintptr_t)name,
			.name_len = sizeof(name),
		};
		uint32_t len = sizeof(info);

		if (fd >= 0 && !bpf_btf_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    strcmp(name, "vmlinux"))
			TRY(add_module(modules, name, id));
	}
	*permitted = errno != EPERM;
	return NULL;
}

static struct error *list_in_sysfs(struct loaded_modules *modules)
{
	_cleanup_names_ struct names names = {0};
	_cleanup_error_ struct error *err = sys_list_dir("/sys/kernel/btf", DT_REG, &names);

	if (err)
		return err->code == ENOMEM ? steal_ptr(err) : NULL;
	for (size_t i = 0; i < names.n; i++)
		if (strcmp(names.v[i], "vmlinux"))
			TRY(add_module(modules, names.v[i], 0));
	return NULL;
}

struct error *modules_list(struct bpf_object *obj, struct loaded_modules **out)
{
	struct loaded_modules *modules = &obj->modules;
	bool permitted;

	if (!modules->listed) {
		TRY(list_by_id(modules, &permitted));
		if (!permitted)
			TRY(list_in_sysfs(modules));
		modules->listed = true;
	}
	*out = modules;
	return NULL;
}

struct error *module_btf(struct bpf_object *obj, struct loaded_module *module,
			 const struct btf **btf)
{
	const struct btf *vmlinux;

	if (!module->tried) {
		_cleanup_error_ struct error *err = NULL;

		TRY(object_vmlinux(obj, &vmlinux));
		module->tried = true;
		err = module->id ? btf_load_by_id(module->id, vmlinux, &module->btf)
				 : btf_load_module(NULL, module->name, vmlinux, &module->btf);
		if (err && err->code == ENOMEM)
			return steal_ptr(err);
		if (err && err->code == ENOENT)
			*module->name = 0; /* unloaded meanwhile */
		else if (err)
			log_info(obj->log, "%s: cannot read the BTF of module %s: %s", obj->path,
				 module->name, err->msg);
	}
	*btf = module->btf;
	return NULL;
}

struct error *module_btf_fd(const struct loaded_module *module, int *fd)
{
	const int got = module->id ? bpf_btf_get_fd_by_id(module->id) : -EPERM;

	if (got >= 0) {
		*fd = got;
		return NULL;
	}
	return error_hint(error_errno(-got, "cannot get the BTF of module %s from the kernel",
				      module->name),
			  got == -EPERM ? "programs that refer to functions, variables or structs "
					  "of modules need CAP_SYS_ADMIN"
					: "it may have been unloaded");
}

struct error *modules_for_core(void *ctx, struct core_modules *out)
{
	struct bpf_object *obj = ctx;
	struct loaded_modules *modules;
	struct loaded_module *module;
	struct core_modules found = {0};

	TRY(modules_list(obj, &modules));
	if (!modules->btfs)
		modules->btfs = calloc(modules->v.n + 1, sizeof(*modules->btfs));
	if (!modules->names)
		modules->names = calloc(modules->v.n + 1, sizeof(*modules->names));
	if (!modules->btfs || !modules->names)
		return error_nomem();
	vec_for_each (module, &modules->v) {
		const struct btf *btf;

		TRY(module_btf(obj, module, &btf));
		if (btf) {
			modules->btfs[found.n] = btf;
			modules->names[found.n++] = module->name;
		} else if (*module->name) {
			found.unread++;
		}
	}
	found.btfs = modules->btfs;
	found.names = modules->names;
	*out = found;
	return NULL;
}

void modules_deinit(struct loaded_modules *modules)
{
	struct loaded_module *module;

	vec_for_each (module, &modules->v) {
		btf__free(module->btf);
		free(module->name);
	}
	vec_deinit(&modules->v);
	free(modules->btfs);
	free(modules->names);
	*modules = (struct loaded_modules){0};
}
