#include "profile/store_tables.h"

#include <stddef.h>

#include "profile/profile.h"

/* The C type of each kind. A column whose field has another type does not compile. */
#define TYPE_BOOL          bool
#define TYPE_FLAG          uint8_t
#define TYPE_WORD          uint8_t
#define TYPE_BYTE          uint8_t
#define TYPE_INT           int
#define TYPE_U32           uint32_t
#define TYPE_INDEX         uint32_t
#define TYPE_U64           uint64_t
#define TYPE_COUNT         uint64_t
#define TYPE_REAL          double
#define TYPE_SHARE         double
#define TYPE_TIME          double
#define TYPE_TEXT          const char *
#define TYPE_OPTIONAL_TEXT const char *
#define TYPE_BUILD_ID      struct build_id

#define OFFSET(type, row, field)                                                                   \
	_Generic(((struct row *)0)->field, type : offsetof(struct row, field))

#define NAMED(name_, kind_, row, field, ...)                                                       \
	{                                                                                          \
		.name = (name_), .kind = COLUMN_##kind_,                                           \
		.offset = OFFSET(TYPE_##kind_, row, field), __VA_ARGS__                            \
	}
/* A column with the name of its field. */
#define COLUMN(kind, row, field, ...) NAMED(#field, kind, row, field, __VA_ARGS__)
#define ID                                                                                         \
	{                                                                                          \
		.name = "id", .kind = COLUMN_ID, .key = true                                       \
	}
#define WORDS(list) .words = (list), .word_count = ARRAY_SIZE(list)

static const struct column meta_columns[] = {
	NAMED("key", TEXT, profile_fact, name, .key = true),
	COLUMN(TEXT, profile_fact, value,
	       .about = "_schema_: the version of the schema. _finished_: 1 if recording ended "
			"properly, 0 if the recorder was killed or is still running. _fused_: 1 if "
			"scopes are complete. Present if known: _command_, _host_, _machine_, "
			"_kernel_, _started_, _seconds_, _hz_, _sampler_, _note_, _attached_ (the "
			"processes that were running, as -p takes them). Counted runs have "
			"_modules_, _preparing_ (seconds before the program was started) and, if "
			"only part of the run was counted, _partial_ (the reason). Numbers of what "
			"is inexact, if not 0: events that were _dropped_, call paths that were "
			"_merged_ or _cut_, and _contradictions_ (call paths with inconsistent "
			"counters). Searches for bottlenecks have _ended_ (exit, signal, duration, "
			"interrupted, exhausted), _strategy_ (deep-start, call-graph), _loops_ (1 "
			"if loops were searched), _search_seconds_. Searches and measured call "
			"paths have _overhead_, the share of run time that probes took."),
};

static const struct column metric_columns[] = {
	ID,
	COLUMN(TEXT, profile_metric, name),
	COLUMN(TEXT, profile_metric, unit, .about = "_unit_ is *ns*, or empty for counts."),
	COLUMN(U64, profile_metric, period,
	       .about = "_period_ is the amount that one sample stands for, 0 if it varies. A run "
			"that was counted (there are rows in *counters*) has the metrics "
			"_instructions_ and _calls_, which are exact: see *value*."),
};

static const struct column module_columns[] = {
	ID,
	COLUMN(TEXT, profile_module, path),
	COLUMN(BUILD_ID, profile_module, build_id, .about = "_build_id_ is in hexadecimal."),
	COLUMN(U64, profile_module, file_size),
	COLUMN(U64, profile_module, mtime, .about = "_mtime_ counts seconds."),
	COLUMN(OPTIONAL_TEXT, profile_module, problem,
	       .about = "_problem_ says why the file could not be analysed."),
};

static const struct column process_columns[] = {
	ID,
	COLUMN(INT, profile_process, pid),
	COLUMN(INDEX, profile_process, parent, .refers = "process"),
	COLUMN(TEXT, profile_process, name, .about = "_name_ is the last name that it had."),
};

static const struct column thread_columns[] = {
	ID,
	COLUMN(U32, profile_thread, process, .refers = "process"),
	COLUMN(INT, profile_thread, tid,
	       .about = "After the first 10,000 rows, sampled threads of one process with one name "
			"share a row, and so do processes of one parent with one name: _tid_ and "
			"_pid_ are those of the first."),
	COLUMN(TEXT, profile_thread, name, .about = "_name_ is the last name that it had."),
};

static const struct column scope_columns[] = {
	ID,
	COLUMN(INDEX, profile_scope, parent, .refers = "scope"),
	COLUMN(U32, profile_scope, module, .refers = "module"),
	COLUMN(BYTE, profile_scope, kind,
	       .about = "_kind_ is 0 for a function, 1 for an inlined call, 2 for a loop, 3 for a "
			"line."),
	COLUMN(BYTE, profile_scope, flags,
	       .about = "_flags_ is a sum of 1 (inlining inferred from lines), 2 (a loop with "
			"several entries), 4 (a function without a symbol, named by its address)."),
	COLUMN(TEXT, profile_scope, name),
	COLUMN(TEXT, profile_scope, file, .about = "Lines are 0 and texts empty if unknown."),
	COLUMN(U32, profile_scope, first_line),
	COLUMN(U32, profile_scope, last_line),
	COLUMN(TEXT, profile_scope, call_file,
	       .about = "_call_file_ and _call_line_ are the place of an inlined call."),
	COLUMN(U32, profile_scope, call_line),
	COLUMN(U64, profile_scope, address,
	       .about = "_address_ is the start of a function, the header of a loop, the lowest "
			"address of others."),
};

static const struct column node_columns[] = {
	ID,
	COLUMN(INDEX, profile_node, parent, .refers = "node"),
	COLUMN(BYTE, profile_node, kind,
	       .about = "_kind_ is one of\n"
			"- 0: the root, which is node 0\n"
			"- 1: a frame that has called something; _address_ is that of the last "
			"byte of the call\n"
			"- 2: where execution was; _address_ is exact\n"
			"- 3: in the kernel, called from the parent\n"
			"- 4: waiting in the kernel, called from the parent\n"
			"- 5: below the root: the callers of what is below this node are not "
			"known\n"),
	COLUMN(INDEX, profile_node, module, .refers = "module"),
	COLUMN(U64, profile_node, address,
	       .about = "_address_ is the one in the file of the module, not that of a process."),
	COLUMN(INDEX, profile_node, scope, .refers = "scope",
	       .about = "_scope_ is the innermost scope of the address."),
};

static const struct column value_columns[] = {
	COLUMN(U32, profile_value, node, .refers = "node", .key = true),
	COLUMN(U32, profile_value, thread, .refers = "thread", .key = true),
	COLUMN(U32, profile_value, metric, .refers = "metric", .key = true),
	COLUMN(U64, profile_value, samples),
	COLUMN(U64, profile_value, amount,
	       .about = "_amount_ is in the unit of the metric. For counted _instructions_, a "
			"context has a node for each line or other innermost scope, at one of its "
			"instructions; _samples_ is the number of executions of straight-line code "
			"in it, and _amount_ the number of instructions executed. For counted "
			"_calls_, the node is the entry of the callee below the call; both are the "
			"number of calls along this path. For counted _runs_, the node is "
			"straight-line code that begins at its address, in any context, directly "
			"below the root."),
};

static const struct column count_columns[] = {
	COLUMN(TEXT, profile_count, name, .key = true),
	COLUMN(U64, profile_count, samples,
	       .about = "_complete_: samples with a complete call path. _lost_, _throttled_: "
			"samples that the kernel dropped. The others: call paths that ended for "
			"this reason."),
};

_Static_assert(INSN_CLASSES == 8, "the table counters has a column for each class");

static const struct column counters_columns[] = {
	ID,
	COLUMN(U32, profile_counters, module, .refers = "module"),
	COLUMN(U64, profile_counters, address),
	COLUMN(BOOL, profile_counters, loop),
	COLUMN(U32, profile_counters, thread, .refers = "thread"),
	COLUMN(INDEX, profile_counters, scope, .refers = "scope",
	       .about = "_scope_ is the loop or function of the source; several loops of the "
			"machine code may be one."),
	COLUMN(BYTE, profile_counters, flags,
	       .about = "_flags_ is a sum of 1 (a region with several entries), 2 (iterations "
			"unknown), 4 (trip counts unknown), 8 (the compiler unrolled or vectorised "
			"it: iterations are those of the machine code)."),
	COLUMN(U64, profile_counters, entries,
	       .about = "_entries_ are a loop's entries or a function's calls."),
	COLUMN(U64, profile_counters, iterations,
	       .about = "_iterations_, the least and most of one entry (_trip_min_, _trip_max_) "
			"and *trips* are of loops."),
	COLUMN(U64, profile_counters, trip_min),
	COLUMN(U64, profile_counters, trip_max),
	NAMED("load", U64, profile_counters, mix[CLASS_LOAD],
	      .about = "The columns from _load_ on are its own instructions by class: of a loop "
		       "without inner loops, of a function with its loops, of neither with "
		       "callees."),
	NAMED("store", U64, profile_counters, mix[CLASS_STORE]),
	NAMED("integer", U64, profile_counters, mix[CLASS_INTEGER]),
	NAMED("float", U64, profile_counters, mix[CLASS_FLOAT]),
	NAMED("simd", U64, profile_counters, mix[CLASS_SIMD]),
	NAMED("branch", U64, profile_counters, mix[CLASS_BRANCH]),
	NAMED("atomic", U64, profile_counters, mix[CLASS_ATOMIC]),
	NAMED("other", U64, profile_counters, mix[CLASS_OTHER]),
};

static const struct column trips_columns[] = {
	COLUMN(U32, profile_trips, counters, .refers = "counters", .key = true),
	COLUMN(U64, profile_trips, low, .key = true),
	COLUMN(U64, profile_trips, high),
	COLUMN(U64, profile_trips, entries,
	       .about = "Entries that had not ended when their thread did are not included."),
};

static const struct column uncovered_columns[] = {
	ID,
	COLUMN(INDEX, profile_uncovered, module, .refers = "module"),
	COLUMN(U64, profile_uncovered, address),
	COLUMN(TEXT, profile_uncovered, name),
	COLUMN(INDEX, profile_uncovered, share,
	       .about =
		       "_share_ is the share of the samples taken during counting, in millionths."),
	COLUMN(TEXT, profile_uncovered, reason),
};

static const struct column resource_columns[] = {
	ID,
	COLUMN(INDEX, profile_resource, parent, .refers = "resource"),
	COLUMN(WORD, profile_resource, hierarchy, WORDS(profile_hierarchy_names),
	       .about = "_hierarchy_ is *code*, *machine*, *sync* or *file*; each has one resource "
			"without a parent, which stands for all of it."),
	COLUMN(WORD, profile_resource, kind, WORDS(profile_resource_names),
	       .about = "_kind_ is *function*, *loop*, *process*, *thread*, *object* (a lock, a "
			"file, ...) or *group* (a module, a source file, a host, a kind of "
			"object)."),
	COLUMN(TEXT, profile_resource, name,
	       .about = "_name_ is without the names of its parents."),
	COLUMN(INDEX, profile_resource, module, .refers = "module",
	       .about = "The columns from _module_ on are of functions and loops."),
	COLUMN(U64, profile_resource, address),
	COLUMN(TEXT, profile_resource, file),
	COLUMN(U32, profile_resource, first_line),
	COLUMN(U32, profile_resource, last_line),
};

static const struct column experiment_columns[] = {
	ID,
	COLUMN(TEXT, profile_experiment, hypothesis,
	       .about = "_hypothesis_ is *cpu*, *system*, *sync*, *io*, *small-io* or *imbalance*; "
			"the four "
			"resources after it are its focus: the part of the run in which all of "
			"them take part."),
	NAMED("code", U32, profile_experiment, focus[PROFILE_CODE], .refers = "resource"),
	NAMED("machine", U32, profile_experiment, focus[PROFILE_MACHINE], .refers = "resource"),
	NAMED("sync", U32, profile_experiment, focus[PROFILE_SYNC], .refers = "resource"),
	NAMED("file", U32, profile_experiment, focus[PROFILE_FILES], .refers = "resource"),
	COLUMN(WORD, profile_experiment, state, WORDS(profile_state_names),
	       .about = "_state_ is *true* if _value_ was at least _threshold_, *false* if it was "
			"not, *ready* or *active* if it is still to be decided, *unknown* if it "
			"could not be decided."),
	COLUMN(WORD, profile_experiment, origin, WORDS(profile_origin_names),
	       .about = "_origin_ is *start*, *refined* (from a true one), *deep-starter* "
			"(suggested by samples) or *connecting* (between another and a deep "
			"starter)."),
	COLUMN(WORD, profile_experiment, priority, WORDS(profile_priority_names),
	       .about = "_priority_ is *normal* or *high*."),
	COLUMN(SHARE, profile_experiment, value),
	COLUMN(SHARE, profile_experiment, threshold),
	COLUMN(SHARE, profile_experiment, confidence,
	       .about = "_confidence_ is the probability that the decision is right."),
	COLUMN(TIME, profile_experiment, created),
	COLUMN(TIME, profile_experiment, begun),
	COLUMN(TIME, profile_experiment, decided),
	COLUMN(REAL, profile_experiment, observed,
	       .about = "_observed_ is the seconds for which it was measured, _overhead_ the "
			"seconds that its probes took, _tests_ the number of decisions."),
	COLUMN(REAL, profile_experiment, overhead),
	COLUMN(U32, profile_experiment, tests),
	NAMED("sampled", FLAG, profile_experiment, flags, .flag = EXPERIMENT_SAMPLED,
	      .about = "_sampled_ is 1 if the value is from samples and not from probes, _unsure_ "
		       "if it is very close to the threshold, _over_ if it was true for part of "
		       "the run only."),
	NAMED("unsure", FLAG, profile_experiment, flags, .flag = EXPERIMENT_UNSURE),
	NAMED("over", FLAG, profile_experiment, flags, .flag = EXPERIMENT_OVER),
};

static const struct column refinement_columns[] = {
	COLUMN(U32, profile_refinement, parent, .refers = "experiment", .key = true),
	COLUMN(U32, profile_refinement, child, .refers = "experiment", .key = true,
	       .about = "An experiment may have several parents, and recursion makes circles."),
};

static const struct column evidence_columns[] = {
	COLUMN(TEXT, store_number, name, .key = true),
	COLUMN(REAL, store_number, value,
	       .about = "_seconds_: duration of the search. _time_, _cpu_, _threads_: the wholes "
			"of shares, without the time for which other programs had the CPUs: run "
			"time; run time, or CPU time where that is more; time of all threads that "
			"are not idle. _idle_: seconds that are left out as well, in which the "
			"program had no requests or input. _ran_, _ready_: seconds for which all "
			"threads together ran, "
			"and were ready but had no CPU. _sampled_cpu_, _sampled_sync_, "
			"_sampled_io_, _sampled_system_, _sampled_memory_: seconds that samples "
			"stand for, by what "
			"threads did; _spun_: of _sampled_cpu_, spinning, which is waiting. "
			"_cpus_: number of CPUs. _ignored_: threads and objects too short-lived to "
			"be examined individually. _calls_sampled_: 1 if the time in "
			"system calls was measured by samples."),
};

const struct column store_numbers[STORE_NUMBERS] = {
	COLUMN(BOOL, evidence_run, calls_sampled),
	COLUMN(REAL, evidence_run, cpu),
	COLUMN(U32, evidence_run, cpus),
	COLUMN(REAL, evidence_run, idle),
	COLUMN(COUNT, evidence_run, ignored),
	COLUMN(REAL, evidence_run, ran),
	COLUMN(REAL, evidence_run, ready),
	NAMED("sampled_cpu", REAL, evidence_run, sampled[0]),
	NAMED("sampled_io", REAL, evidence_run, sampled[2]),
	NAMED("sampled_memory", REAL, evidence_run, sampled[4]),
	NAMED("sampled_sync", REAL, evidence_run, sampled[1]),
	NAMED("sampled_system", REAL, evidence_run, sampled[3]),
	COLUMN(REAL, evidence_run, seconds),
	COLUMN(REAL, evidence_run, spun),
	COLUMN(REAL, evidence_run, threads),
	COLUMN(REAL, evidence_run, time),
};

static const struct column code_name_columns[] = {
	COLUMN(U32, evidence_name, resource, .refers = "resource", .key = true),
	COLUMN(TEXT, evidence_name, function,
	       .about = "_function_ is the innermost function, which may be inlined; _chain_ is "
			"the function of the machine code and the inlined calls in it."),
	COLUMN(TEXT, evidence_name, chain),
};

static const struct column seen_thread_columns[] = {
	ID,
	COLUMN(U32, evidence_thread, resource, .refers = "resource"),
	COLUMN(INT, evidence_thread, tid),
	COLUMN(TEXT, evidence_thread, name),
	COLUMN(REAL, evidence_thread, cpu,
	       .about = "_cpu_ is CPU time in seconds; _idle_ is the seconds in which it had "
			"nothing to do, less those in which it had."),
	COLUMN(REAL, evidence_thread, idle),
};

static const struct column object_columns[] = {
	ID,
	COLUMN(TEXT, evidence_object, kind),
	COLUMN(TEXT, evidence_object, name),
	COLUMN(INDEX, evidence_object, resource, .refers = "resource"),
	COLUMN(COUNT, evidence_object, count),
	COLUMN(COUNT, evidence_object, bytes),
	COLUMN(REAL, evidence_object, seconds),
	COLUMN(REAL, evidence_object, rate,
	       .about = "_rate_ is the number per second while it was counted (0: in all of "
			"the run); _peer_ is the process at the other end of a pipe or connection, "
			"_peer_root_ the first of its ancestors of the same name."),
	COLUMN(TEXT, evidence_object, peer),
	COLUMN(INT, evidence_object, peer_pid),
	COLUMN(INT, evidence_object, peer_root),
};

/* Chains follow each other in `parts` without gaps, so their starts are not stored. */
static const struct column chain_columns[] = {
	ID,
	COLUMN(BYTE, evidence_chain, class,
	       .about = "_class_ is 0 (computing), 1 (waiting for synchronisation), 2 (input and "
			"output), 3 (running in the kernel; the object is a system call) or 4 "
			"(running in an allocator; the object is its function)."),
	COLUMN(INDEX, evidence_chain, object, .refers = "object"),
	COLUMN(U32, evidence_chain, node, .refers = "node"),
	COLUMN(REAL, evidence_chain, seconds),
	COLUMN(U32, evidence_chain, samples),
	COLUMN(U32, evidence_chain, length,
	       .about = "The first chain has the first _length_ rows of *chain_part*, outermost "
			"first, the next one the rows after these, and so on. Code that is neither "
			"innermost nor in a true experiment is omitted from chains that no finding "
			"shows."),
};

/* Its rows are plain numbers, not structs. */
static const struct column chain_part_columns[] = {
	ID,
	{.name = "resource", .kind = COLUMN_U32, .refers = "resource"},
};

static const struct column amount_columns[] = {
	ID,
	COLUMN(U32, evidence_amount, resource, .refers = "resource"),
	COLUMN(U32, evidence_amount, thread, .refers = "seen_thread"),
	COLUMN(INDEX, evidence_amount, object, .refers = "object"),
	COLUMN(REAL, evidence_amount, cpu),
	COLUMN(REAL, evidence_amount, wait),
	COLUMN(REAL, evidence_amount, calls),
	COLUMN(REAL, evidence_amount, seen_cpu),
	COLUMN(REAL, evidence_amount, seen_wait),
	COLUMN(REAL, evidence_amount, asked),
};

static const struct column holder_columns[] = {
	ID,
	COLUMN(U32, evidence_holder, object, .refers = "object"),
	COLUMN(U32, evidence_holder, thread, .refers = "seen_thread"),
	COLUMN(U32, evidence_holder, node, .refers = "node"),
	COLUMN(REAL, evidence_holder, seconds),
};

static const struct column trip_count_columns[] = {
	ID,
	COLUMN(U32, evidence_trip, resource, .refers = "resource"),
	COLUMN(REAL, evidence_trip, seconds),
	COLUMN(COUNT, evidence_trip, entries),
	COLUMN(COUNT, evidence_trip, iterations),
};

static const struct column command_columns[] = {
	ID,
	COLUMN(TEXT, evidence_command, name),
	COLUMN(U32, evidence_command, processes,
	       .about =
		       "_processes_: those that began during the search. _cpu_, _wall_: seconds of "
		       "all of them."),
	COLUMN(REAL, evidence_command, cpu),
	COLUMN(REAL, evidence_command, wall),
	COLUMN(REAL, evidence_command, longest,
	       .about = "_longest_: seconds of the one that ran longest; _argument_: what tells it "
			"apart, such as its source file, or empty. _first_, _last_: when, after "
			"the beginning of the search, the first one began and the last one ended. "
			"_alone_: seconds for which one process worked, of this command, while "
			"all others waited for children; _closing_: of that, since several "
			"worked for the last time."),
	COLUMN(TEXT, evidence_command, argument),
	COLUMN(REAL, evidence_command, first),
	COLUMN(REAL, evidence_command, last),
	COLUMN(REAL, evidence_command, alone),
	COLUMN(REAL, evidence_command, closing),
};

static const struct column finding_columns[] = {
	ID,
	COLUMN(TEXT, profile_finding, hypothesis),
	COLUMN(INDEX, profile_finding, experiment, .refers = "experiment"),
	COLUMN(INDEX, profile_finding, node, .refers = "node",
	       .about = "_node_ is the calling context with the largest share."),
	COLUMN(SHARE, profile_finding, share),
	COLUMN(SHARE, profile_finding, confidence),
	COLUMN(TEXT, profile_finding, sentence),
};

static const struct column remark_columns[] = {
	ID,
	COLUMN(INDEX, profile_remark, finding, .refers = "finding"),
	COLUMN(TEXT, profile_remark, kind,
	       .about = "_kind_ is *where*, *path*, *waits*, *held*, *file*, *evidence*, "
			"*command*, *chain*, *step* or *note*."),
	COLUMN(TEXT, profile_remark, text),
};

#define TABLE(name_, vector_, row, changes_, about_)                                               \
	{                                                                                          \
		.name = #name_, .about = (about_), .columns = name_##_columns,                     \
		.column_count = ARRAY_SIZE(name_##_columns), .changes = (changes_),                \
		.row_size = sizeof(row), .vector = VECTOR(vector_, row)                            \
	}
#define VECTOR(vector, row)                                                                        \
	_Generic(((struct profile *)0)->vector.data, row * : offsetof(struct profile, vector))

const struct store_table store_tables[STORE_TABLES] = {
	[TABLE_META] = TABLE(meta, facts, struct profile_fact, CHANGES_BY_HASH,
			     "facts about the run, as text."),
	[TABLE_METRIC] =
		TABLE(metric, metrics, struct profile_metric, CHANGES_NEVER, "what was measured."),
	[TABLE_MODULE] = TABLE(module, modules, struct profile_module, CHANGES_BY_HASH,
			       "files whose code ran."),
	[TABLE_PROCESS] = TABLE(process, processes, struct profile_process, CHANGES_BY_HASH,
				"the processes that were observed."),
	[TABLE_THREAD] = TABLE(thread, threads, struct profile_thread, CHANGES_BY_HASH,
			       "the threads of these processes."),
	[TABLE_SCOPE] = TABLE(scope, scopes, struct profile_scope, CHANGES_NEVER,
			      "structure of the code that was sampled."),
	[TABLE_NODE] =
		TABLE(node, nodes, struct profile_node, CHANGES_SCOPE, "the calling-context tree."),
	[TABLE_VALUE] = TABLE(value, values, struct profile_value, CHANGES_SAMPLES,
			      "what was measured at a node itself, not below it."),
	[TABLE_COUNT] = TABLE(count, counts, struct profile_count, CHANGES_BY_HASH,
			      "numbers of samples, by the end of their call path."),
	[TABLE_COUNTERS] =
		TABLE(counters, counters, struct profile_counters, CHANGES_BY_HASH,
		      "counters of one loop (_loop_ is 1; _address_ is its header) or function "
		      "(_loop_ is 0; _address_ is its start) in one thread, over all call paths."),
	[TABLE_TRIPS] = TABLE(trips, trips, struct profile_trips, CHANGES_BY_HASH,
			      "how many entries of a loop had _low_ to _high_ iterations."),
	[TABLE_UNCOVERED] =
		TABLE(uncovered, uncovered, struct profile_uncovered, CHANGES_BY_HASH,
		      "functions that ran uninstrumented, because they could not be counted; with "
		      "address 0 other code, or, without a name, a whole module."),
	[TABLE_RESOURCE] = TABLE(resource, resources, struct profile_resource, CHANGES_BY_HASH,
				 "parts of the program that the search knew."),
	[TABLE_EXPERIMENT] = TABLE(experiment, experiments, struct profile_experiment,
				   CHANGES_BY_HASH, "what was tested."),
	[TABLE_REFINEMENT] = TABLE(refinement, refinements, struct profile_refinement,
				   CHANGES_NEVER, "an experiment led to another one."),
	[TABLE_EVIDENCE] = {.name = "evidence",
			    .about = "numbers of the whole run.",
			    .columns = evidence_columns,
			    .column_count = ARRAY_SIZE(evidence_columns),
			    .changes = CHANGES_AS_A_WHOLE,
			    .row_size = sizeof(struct store_number)},
	[TABLE_CODE_NAME] = TABLE(code_name, evidence.names, struct evidence_name,
				  CHANGES_AS_A_WHOLE, "names of functions and loops."),
	[TABLE_SEEN_THREAD] =
		TABLE(seen_thread, evidence.threads, struct evidence_thread, CHANGES_AS_A_WHOLE,
		      "threads that the search knew; _tid_ 0 stands for several."),
	[TABLE_OBJECT] = TABLE(object, evidence.objects, struct evidence_object, CHANGES_AS_A_WHOLE,
			       "what threads waited for, with number of waits, bytes and seconds."),
	[TABLE_CHAIN] = TABLE(chain, evidence.chains, struct evidence_chain, CHANGES_AS_A_WHOLE,
			      "samples with the same code on the stack."),
	[TABLE_CHAIN_PART] = TABLE(chain_part, evidence.parts, uint32_t, CHANGES_AS_A_WHOLE,
				   "the code of all chains."),
	[TABLE_AMOUNT] = TABLE(amount, evidence.amounts, struct evidence_amount, CHANGES_AS_A_WHOLE,
			       "seconds measured in code of true experiments, or in all code; "
			       "_seen_cpu_ and _seen_wait_ are from samples, and so is _asked_: "
			       "waiting for another process, also while the thread was idle."),
	[TABLE_HOLDER] = TABLE(holder, evidence.holders, struct evidence_holder, CHANGES_AS_A_WHOLE,
			       "where a thread was while others waited for a lock that it held."),
	[TABLE_TRIP_COUNT] =
		TABLE(trip_count, evidence.trips, struct evidence_trip, CHANGES_AS_A_WHOLE,
		      "loops and functions that take much of the time: how often they were entered "
		      "during a short time, and the iterations of loops."),
	[TABLE_COMMAND] =
		TABLE(command, evidence.commands, struct evidence_command, CHANGES_AS_A_WHOLE,
		      "the commands that the program's processes have executed."),
	[TABLE_FINDING] = TABLE(finding, findings, struct profile_finding, CHANGES_AS_A_WHOLE,
				"findings, the most important first."),
	[TABLE_REMARK] = TABLE(remark, remarks, struct profile_remark, CHANGES_AS_A_WHOLE,
			       "more about a finding or, if it is NULL, about the run."),
};
