#include "patch/fragment.h"

const char *const refusal_word[REFUSAL_REASONS] = {
#define X(name, word, text) [REFUSED_##name] = word,
	REFUSALS(X)
#undef X
};

const char *const refusal_text[REFUSAL_REASONS] = {
#define X(name, word, text) [REFUSED_##name] = text,
	REFUSALS(X)
#undef X
};
