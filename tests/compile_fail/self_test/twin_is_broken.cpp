// A check of check.cmake: neither branch compiles, so the check must fail.
int main() { return undeclared; }
