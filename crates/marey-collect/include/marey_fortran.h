/* Regions for hot loops of Fortran programs that are compiled with the preprocessor (.F90, -cpp):
 *
 *     use marey
 *     #include "marey_fortran.h"
 *       type(marey_region), save :: r = marey_region("solve")
 *       MAREY_ENTER(r)
 *       MAREY_LEAVE(r)
 *
 * The test is made in the program's own code, so that a region costs next to nothing while nothing
 * records; a call of a module's subroutine would be no less than two nanoseconds a pair.
 */
#define MAREY_ENTER(region) if (marey_on) call marey_enter(region)
#define MAREY_LEAVE(region) if (marey_on) call marey_leave(region)
