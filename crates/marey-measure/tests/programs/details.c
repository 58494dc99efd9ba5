/* Leaves regions that were left out as if they had been entered, as C does: deeper than can be recorded, and
 * where the detail changes while they are open. `mark` is entered to tell how deep the recorder is. */
#include "marey.h"

static marey_region around = MAREY_REGION("around"), mark = MAREY_REGION("mark"), down = MAREY_REGION("down");
static marey_region leaf = MAREY_REGION("leaf"), changing[] = {MAREY_REGION("off"), MAREY_REGION("count")};

static void visit(marey_region *region) {
    marey_enter(region);
    marey_leave(region);
}

static void descend(int levels) {
    marey_enter(&down);
    visit(&leaf);
    if (levels > 1) descend(levels - 1);
    if (levels == 1090) visit(&mark);
    marey_leave(&down);
}

int main(void) {
    const enum marey_detail details[] = {MAREY_OFF, MAREY_COUNT};
    marey_set_detail(MAREY_OFF, "leaf");
    marey_enter(&around);
    visit(&mark);
    descend(1100);
    for (int i = 0; i < 2; i++) {
        marey_enter(&changing[i]);
        marey_set_detail(details[i], changing[i].name);
        marey_enter(&changing[i]);
        visit(&mark);
        marey_leave(&changing[i]);
        visit(&mark);
        marey_leave(&changing[i]);
        marey_enter(&changing[i]);
        visit(&mark);
        marey_leave(&changing[i]);
        visit(&mark);
    }
    marey_leave(&around);
    return 0;
}
