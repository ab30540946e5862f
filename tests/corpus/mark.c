/* What a marked Fortran loop calls: the address of the call is in the loop. */
void loopmark_(void);
unsigned loopmarks;

void loopmark_(void)
{
	loopmarks++;
}
