/* Library functions that do not return, by name: the code of other modules cannot be looked at. */
#include "flow/internal.h"

#include <string.h>

static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZN10__cxxabiv111__terminateEPFvvE",
	"_ZN10__cxxabiv112__unexpectedEPFvvE",
	"_ZSt10unexpectedv",
	"_ZSt16__throw_bad_castv",
	"_ZSt17__throw_bad_allocv",
	"_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	"_ZSt18__throw_bad_typeidv",
	"_ZSt19__throw_ios_failurePKc",
	"_ZSt19__throw_ios_failurePKci",
	"_ZSt19__throw_range_errorPKc",
	"_ZSt20__throw_domain_errorPKc",
	"_ZSt20__throw_future_errori",
	"_ZSt20__throw_length_errorPKc",
	"_ZSt20__throw_out_of_rangePKc",
	"_ZSt20__throw_system_errori",
	"_ZSt21__glibcxx_assert_failPKciS0_S0_",
	"_ZSt21__throw_bad_exceptionv",
	"_ZSt21__throw_runtime_errorPKc",
	"_ZSt22__throw_overflow_errorPKc",
	"_ZSt23__throw_underflow_errorPKc",
	"_ZSt24__throw_invalid_argumentPKc",
	"_ZSt24__throw_out_of_range_fmtPKcz",
	"_ZSt25__throw_bad_function_callv",
	"_ZSt28__throw_bad_array_new_lengthv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_gfortran_error_stop_numeric",
	"_gfortran_error_stop_string",
	"_gfortran_exit_i4",
	"_gfortran_exit_i8",
	"_gfortran_os_error",
	"_gfortran_os_error_at",
	"_gfortran_runtime_error",
	"_gfortran_runtime_error_at",
	"_gfortran_stop_numeric",
	"_gfortran_stop_string",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static int compare(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

/* BSD's err() and similar. A program may well have an err() of its own that returns. */
static bool is_common_word(const char *name)
{
	return !strcmp(name, "err") || !strcmp(name, "errx") || !strcmp(name, "verr") ||
	       !strcmp(name, "verrx");
}

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

static bool ends(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);
	return n >= m && !strcmp(name + n - m, ending);
}

/* The functions by which sanitizers end a program, unless it was built to continue after errors. A
 * compiler places the calls of these functions one after the other, among calls that return. If one
 * of them were taken to return, control would seem to fall from it into the middle of a loop. */
static bool is_sanitizer_report(const char *name)
{
	if (begins(name, "__asan_report_load") || begins(name, "__asan_report_store"))
		return !ends(name, "_noabort");
	if (begins(name, "__ubsan_handle_"))
		return ends(name, "_abort") || ends(name, "_builtin_unreachable") ||
		       ends(name, "_missing_return");
	return !strcmp(name, "__msan_warning_noreturn");
}

bool is_noreturn_name(const char *name, bool imported)
{
	char bare[128];
	size_t n = strcspn(name, "@");
	if (n >= sizeof(bare))
		return false;
	memcpy(bare, name, n);
	bare[n] = '\0';
	if (is_sanitizer_report(bare))
		return true;
	return (imported || !is_common_word(bare)) &&
	       bsearch(bare, names, ARRAY_SIZE(names), sizeof(names[0]), compare) != NULL;
}
