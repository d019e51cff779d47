// A stand-in for the one function of bcryptprimitives.dll that Go calls. Wine 8
// does not have that library.
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	return RtlGenRandom(data, (ULONG)size);
}
