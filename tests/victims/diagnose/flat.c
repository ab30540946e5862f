/* An outer loop that calls thirty functions, each of which takes little. */
#include "victim.h"

static uint64_t first, hot;

#define CALLEE(name)                                                                               \
	OWN static uint64_t name(uint64_t x)                                                       \
	{                                                                                          \
		for (int i = 0; i < 30000; i++)                                                    \
			STIR(x);                                                                   \
		return x;                                                                          \
	}
#define TEN(name)                                                                                  \
	CALLEE(name##0)                                                                            \
	CALLEE(name##1) CALLEE(name##2) CALLEE(name##3) CALLEE(name##4) CALLEE(name##5)            \
		CALLEE(name##6) CALLEE(name##7) CALLEE(name##8) CALLEE(name##9)
#define CALL_TEN(name)                                                                             \
	x = name##0(name##1(name##2(name##3(name##4(x)))));                                        \
	x = name##5(name##6(name##7(name##8(name##9(x)))))
TEN(read_)
TEN(check_)
TEN(apply_)

OWN static uint64_t dispatch(uint64_t x)
{
	for (int round = 0; round < 3; round++) { /* hot: dispatch */
		CALL_TEN(read_);
		CALL_TEN(check_);
		CALL_TEN(apply_);
	}
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t x;
		CPU_OF(hot, x = dispatch(7));
		same(&first, x);
	}
	finish("flat");
	tell_cpu("dispatch", hot);
}
