// SPDX-License-Identifier: MIT
/*
 * Compiles programs of gtu/weave.h at run time: with a fake NVRTC, and with the real one where it is on this computer,
 * whose code test_weave_gpu runs.
 */
#include <dlfcn.h>

#include "gtu/weave.h"
#include "tests/fake/built.h"
#include "tests/fake/fake_nvrtc.h"
#include "tests/unit/library.h"

static const struct gtu_weave_program count = {
	.name = "count",
	.source = "GTU_WEAVE_FUNCTION void zero(const struct gtu_weave_iteration *t, uint64_t v)\n"
		  "{\n\tGTU_WEAVE_STORE(t, (uint32_t *)t->context + v, 0);\n}\n"
		  "GTU_WEAVE_FUNCTION void add(const struct gtu_weave_iteration *t, uint64_t s, uint64_t v, double w)\n"
		  "{\n\t(void)s, (void)w;\n\tGTU_WEAVE_ADD(t, (uint32_t *)t->context + v, 1u);\n}\n"
		  "GTU_WEAVE_FUNCTION bool end(const struct gtu_weave_iteration *t, uint64_t v)\n"
		  "{\n\t(void)t, (void)v;\n\treturn false;\n}\n",
	.init = "zero", .gather = "add", .apply = "end",
};

static struct fake_nvrtc *fake;
static void *image;
static size_t bytes;

static void use_fake(void)
{
	const char *path = fake_built("libnvrtc.so");
	void *library = dlopen(path, RTLD_NOW);

	CHECKF(library, "%s", dlerror());
	fake = dlsym(library, "fake_nvrtc");
	CHECK(fake);
	memset(fake, 0, sizeof(*fake));
	setenv("GTU_NVRTC_LIBRARY", path, 1);
}

TEST(a_missing_compiler_is_reported)
{
	setenv("GTU_NVRTC_LIBRARY", "libnvrtc-that-nobody-has.so", 1);
	FAILS(gtu_weave_compile(&count, 90, &image, &bytes, &err), GTU_ERR_UNSUPPORTED, "there is no NVRTC on this computer");
	CHECK(strstr(err.text, "libnvrtc-that-nobody-has.so"));
}

TEST(an_old_compiler_is_reported)
{
	setenv("GTU_NVRTC_LIBRARY", fake_built("libnvrtc-old.so"), 1);
	FAILS(gtu_weave_compile(&count, 90, &image, &bytes, &err), GTU_ERR_UNSUPPORTED, "has no nvrtcGetErrorString");
}

TEST(a_program_without_a_function_is_refused)
{
	struct gtu_weave_program p = count;

	p.gather = NULL;
	FAILS(gtu_weave_compile(&p, 90, &image, &bytes, &err), GTU_ERR_USAGE, "init, gather and apply");
}

TEST(the_compiler_gets_source_options_and_kernels)
{
	static const char *const options[] = { "--include-path=somewhere", NULL };
	struct gtu_weave_program p = count;

	use_fake();
	p.options = options;
	p.filter_target = "reached";
	OK(gtu_weave_compile(&p, 80, &image, &bytes, &err));
	CHECK(bytes == 5 && !memcmp(image, "cubin", 5));
	free(image);
	CHECK(fake->has_kernels && !fake->live);
	CHECK(!strcmp(fake->name, "count"));
	CHECK(!strcmp(fake->options, "--gpu-architecture=sm_80 --std=c++17 --include-path=somewhere "));
	CHECK(!strncmp(fake->source, "#include \"gtu/weave.cuh\"\n", 25));
	CHECK(strstr(fake->source, p.source));
	CHECK(strstr(fake->source, "GTU_WEAVE_KERNELS(count, zero, gtu_weave_no_filter, reached, add, end)\n"));
}

TEST(errors_of_the_source_are_reported)
{
	use_fake();
	fake->log = "a warning\ncount(3): error: identifier \"x\" is undefined\n1 error\n";
	FAILS(gtu_weave_compile(&count, 90, &image, &bytes, &err), GTU_ERR_INPUT,
	      "the program count does not compile for the GPU: count(3): error: identifier \"x\" is undefined");
	CHECK(!strchr(err.text, '\n') && !fake->live);
	fake->log = "";
	FAILS(gtu_weave_compile(&count, 90, &image, &bytes, &err), GTU_ERR_INPUT, "gives no reason");
}

/* Whichever call fails, the sentence names it and nothing stays. */
TEST(every_failed_call_is_reported)
{
	static const char *const name[] = { "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetCUBINSize", "nvrtcGetCUBIN" };

	for (unsigned i = 0; i < LENGTH(name); i++) {
		use_fake();
		fake->fail_at = i + 1;
		FAILS(gtu_weave_compile(&count, 90, &image, &bytes, &err), GTU_ERR_FAIL, name[i]);
		CHECK_EQ(fake->live, 0);
	}
}

/* ---- The real one -------------------------------------------------------------------------------- */

static void use_real(void)
{
	unsetenv("GTU_NVRTC_LIBRARY");
	if (gtu_weave_compile(&count, 90, &image, &bytes, &err) == GTU_ERR_UNSUPPORTED)
		SKIP("%s", err.text);
	CHECKF(!err.code, "%s", err.text);
}

TEST(the_real_compiler_gives_an_image_or_an_error)
{
	struct gtu_weave_program p = count;

	err.code = 0;
	use_real();
	CHECK(bytes > 64 && !memcmp(image, "\177ELF", 4));
	free(image);
	p.source = "GTU_WEAVE_FUNCTION void zero(const struct gtu_weave_iteration *t, uint64_t v)\n{\n\tnothing(t, v);\n}\n";
	FAILS(gtu_weave_compile(&p, 90, &image, &bytes, &err), GTU_ERR_INPUT, "count(3): error: identifier \"nothing\" is undefined");
}

/* A program that also runs in process and in the laboratory, as its file has it. */
TEST(the_real_compiler_takes_programs_from_their_file)
{
	static const struct {
		const char *name, *init, *source, *target, *gather, *apply;
	} programs[] = {
		{ "bfs", "bfs_init", "bfs_old", "bfs_reached", "bfs_gather", "bfs_apply" },
		{ "sssp", "sssp_init", "sssp_sleeps", NULL, "sssp_gather", "sssp_apply" },
		{ "sum", "sum_init", NULL, NULL, "sum_gather", "sum_apply" },
	};
	char kernel[32], include[512];
	const char *options[] = { include, NULL };
	const char *root = getenv("GTU_ROOT");

	err.code = 0;
	use_real();
	free(image);
	snprintf(include, sizeof(include), "--include-path=%s", root ? root : ".");
	for (unsigned i = 0; i < LENGTH(programs); i++) {
		const struct gtu_weave_program p = {
			.name = programs[i].name, .source = "#include \"tests/cuda/weave_programs.h\"\n",
			.init = programs[i].init, .filter_source = programs[i].source, .filter_target = programs[i].target,
			.gather = programs[i].gather, .apply = programs[i].apply, .options = options,
		};

		OK(gtu_weave_compile(&p, 90, &image, &bytes, &err));
		snprintf(kernel, sizeof(kernel), "%s_run_gather", p.name);
		CHECKF(memmem(image, bytes, kernel, strlen(kernel)), "no kernel %s", kernel);
		free(image);
	}
}

TEST_MAIN
