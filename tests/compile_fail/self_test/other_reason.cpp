// A check of check.cmake: the misuse is refused for a misspelt name, so the check must fail.
#ifdef WALLOCK_MISUSE
int main() { return mispelt; }
#else
int main() { return 0; }
#endif
