/* Shows its own data: scope | name | offset / size | where data lie | element | dimensions. */
#include <stdlib.h>
void show(const void *address, unsigned long bytes, const char *what);

typedef double row_t[5];
struct particle { double x[3]; int kind; struct { float q, m; } charge; };
typedef struct particle particle_t;
enum colour { RED, GREEN };

double grid[100][200];
static row_t rows[4];
static const int table[7] = {1, 2, 3, 4, 5, 6, 7};
struct particle parts[64];
static particle_t one;
static float *data;
static double *lines[3];
static void (*handler)(void);
static enum colour colours[2];
union both { int i[4]; double d[2]; };
static union both mixed;
static struct { int n; double *values; } holder;
__thread int own[4];
static unsigned char raw[1000];

static int counted(void) {
    static long calls[3];
    show(&calls[1], 8, "counted|calls|8/24|storage|long int|0:3");
    return (int)calls[0];
}

__attribute__((noinline)) static void frames(int n) {
    double local[16];
    struct particle mine;
    char text[24];
    local[n] = n;
    mine.kind = n;
    text[0] = 0;
    show(&local[2], 8, "frames|local|16/128|storage|double|0:16");
    show(&mine.kind, 4, "frames|mine.kind|0/4|storage|int|");
    show(&mine.x[2], 8, "frames|mine.x|16/24|storage|double|0:3");
    show(&mine, sizeof mine, "frames|mine|0/40|storage|struct particle|");
    show(text + 5, 4, "frames|text|5/24|storage|char|0:24");
    {
        double local[8];
        local[0] = n;
        show(&local[1], 8, "frames|local|8/64|storage|double|0:8");
    }
    /* These two never live at one time, so optimising compilers give them one place. */
    {
        double first[32];
        first[n] = n;
        show(&first[1], 8, "frames|first|8/256|storage|double|0:32");
    }
    {
        double second[32];
        second[n] = n;
        show(&second[1], 8, "frames|second|8/256|storage|double|0:32");
    }
    {
        int of_length[n + 4];
        of_length[0] = n;
        show(&of_length[1], 4, "-");
    }
    show(&local[15], 8, "frames|local|120/128|storage|double|0:16");
}

int main(void) {
    data = malloc(64);
    show(&grid[3][7], 8, "|grid|4856/160000|storage|double|0:100 0:200");
    show(&grid[99][199], 8, "|grid|159992/160000|storage|double|0:100 0:200");
    show(grid, 8000, "|grid|0/160000|storage|double|0:100 0:200");
    show(&rows[1][2], 8, "|rows|56/160|storage|double|0:4 0:5");
    show(&table[6], 4, "|table|24/28|storage|int|0:7");
    show(&parts[3].kind, 4, "|parts.kind|0/4|storage|int|");
    show(&parts[3].charge.m, 4, "|parts.charge.m|0/4|storage|float|");
    show(&parts[3], sizeof parts[0] * 10, "|parts|120/2560|storage|struct particle|0:64");
    show(&parts[3].x[1], 16, "|parts.x|8/24|storage|double|0:3");
    show(&one.x, 24, "|one.x|0/24|storage|double|0:3");
    show(&one, sizeof one, "|one|0/40|storage|particle_t|");
    show(&data, 8, "|data|0/8|pointer|float|");
    show(&lines[2], 8, "|lines|16/24|storage|double *|0:3");
    show(&handler, 8, "|handler|0/8|storage|(function)|");
    show(&colours[1], 4, "|colours|4/8|storage|enum colour|0:2");
    show(&mixed.d[1], 8, "|mixed|8/16|storage|union both|");
    show(&holder.values, 8, "|holder.values|0/8|pointer|double|");
    show(raw + 999, 1, "|raw|999/1000|storage|unsigned char|0:1000");
    show(own, 4, "-");
    show(data, 4, "-");
    free(data);
    frames(3);
    return counted() + colours[0];
}
