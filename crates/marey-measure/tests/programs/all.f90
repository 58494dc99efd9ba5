!> Everything of marey.f90 and marey_fortran.h, with threads.
#include "marey_fortran.h"
program all
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32
  use marey
  implicit none
  type(marey_region), save :: loop = marey_region("loop"), threads = marey_region("threads", "all.f90", 8)
  type(marey_counter), save :: cells = marey_counter("cells", "1")
  type(marey_event) :: event
  type(marey_lane) :: lane
  integer(int64) :: token
  type(marey_region), save :: detail = marey_region("detail")
  integer, parameter :: order(0:4) = [marey_trace, marey_count, marey_off, marey_time, marey_trace]
  integer :: k, n

  do n = 1, 50000
    call marey_enter(loop)
    call work(n)
    call marey_leave(loop)
  end do
  !$omp parallel do num_threads(4) schedule(static)
  do n = 1, 4000
    call marey_enter(threads)
    call work(n)
    call marey_leave(threads)
  end do
  call marey_set(cells, 17.5d0)
  call marey_event_begin(event, "all")
  call marey_put(event, "i", -5)
  call marey_put(event, "least", -huge(1_int64) - 1)
  call marey_put(event, "f", 0.5)
  call marey_put(event, "d", 0.25d0)
  call marey_put(event, "b", .true.)
  call marey_put(event, "t", "text")
  call marey_put(event, "one", 1_int8)
  call marey_event_end(event)
  do n = 1, 2
    call marey_event_begin(event, "again")
    call marey_put(event, "n", n)
    call marey_put(event, "text", repeat("x", 1000 * n))
    call marey_event_end(event)
  end do
  call marey_event_begin(event, "plain", attribute=.true.)
  call marey_event_end(event)
  lane = marey_new_lane("task")
  call marey_lane_enter(lane, loop)
  call marey_lane_leave(lane, loop)
  token = marey_begin(loop)
  call marey_end(token)
  do k = 0, 4
    call marey_set_detail(order(k), "det?il")
    call marey_keep(k < 4)
    do n = 1, 3
      MAREY_ENTER(detail)
      MAREY_LEAVE(detail)
    end do
  end do
  call marey_keep(.true.)

contains

  subroutine work(n)
    integer, intent(in) :: n
    type(marey_region), save :: r = marey_region("work")
    MAREY_ENTER(r)
    if (n < 0) print *, n
    MAREY_LEAVE(r)
  end subroutine work
end program all
