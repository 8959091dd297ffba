// A check of check.cmake: nothing is refused here, so the check must fail.
int main() { return 0; }
