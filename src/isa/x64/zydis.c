/* The Zydis decoder, initialised at first use. */
#include <pthread.h>

#include "isa/x64/x64.h"

static ZydisDecoder decoder;
static pthread_once_t decoder_once = PTHREAD_ONCE_INIT;

static void decoder_init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool x64_zydis(const uint8_t *p, size_t n, struct zinsn *z)
{
	pthread_once(&decoder_once, decoder_init);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, p, n, &z->i, z->op));
}
