/* Calls `gone` and `kept`. Waits as long as there is a file `wait`, and fails where there is one that is called `fail`. */
#include <stdio.h>
#include <unistd.h>

int gone(int n) { return n + 1; }
int kept(int n) { return 2 * n; }

int main(void) {
    int sum = 0;
    for (int n = 0; n < 1000; n++)
        sum += gone(n) + kept(n);
    printf("the sum is %d\n", sum);
    fflush(stdout);
    while (access("wait", F_OK) == 0)
        usleep(20000);
    if (access("fail", F_OK) == 0) {
        puts("<b>there is no input</b>");
        return 3;
    }
    return 0;
}
