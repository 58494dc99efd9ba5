!> The workload of workload.h in Fortran, with the same arguments and figures; threads are those of
!! OpenMP. With -DEMPTY: the loop alone. Both keep a store to a volatile variable, so that the
!! compiler keeps the loop and the difference of the two is the regions.
#include "marey_fortran.h"
program workload
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use marey
  implicit none

  type, bind(c) :: timespec
    integer(c_long) :: seconds, nanoseconds
  end type timespec

  interface
    integer(c_int) function clock_gettime(clock, time) bind(c)
      import :: c_int, timespec
      integer(c_int), value :: clock
      type(timespec), intent(out) :: time
    end function clock_gettime
  end interface

  integer(c_int), parameter :: monotonic = 1, process_cpu = 2, thread_cpu = 3
  integer, parameter :: n_choices = 4096, outer_names = 25, n_names = 50
  type(marey_region), save :: regions(0:n_names - 1)
  integer :: outer_choices(0:n_choices - 1), inner_choices(0:n_choices - 1)
  integer(int64) :: pairs
  integer :: threads, idx
  real(real64) :: start, cpu, wall, flushed, all_pairs
  character(len=32) :: argument

  if (command_argument_count() /= 3) error stop 'usage: PROGRAM PAIRS THREADS OUTPUT'
  call get_command_argument(1, argument)
  read (argument, *) pairs
  pairs = pairs / 2 * 2
  call get_command_argument(2, argument)
  read (argument, *) threads
  do idx = 0, n_names - 1
    write (argument, '(a, i0)') 'region ', idx
    regions(idx) = marey_region(argument)
  end do
  call choose()

  start = clock_ns(monotonic)
  cpu = 0
  wall = 0
  !$omp parallel num_threads(threads) reduction(+: cpu, wall)
  call work(cpu, wall)
  !$omp end parallel
  flushed = clock_ns(monotonic) - start

  all_pairs = real(pairs, real64) * threads
  print '(a, f0.3)', 'ns_per_pair ', cpu / all_pairs
  print '(a, f0.3)', 'wall_ns_per_pair ', wall / all_pairs
  print '(a, f0.3)', 'process_ns_per_pair ', clock_ns(process_cpu) / all_pairs
  print '(a, f0.3)', 'flushed_ns_per_pair ', flushed / real(pairs, real64)
  print '(a, i0)', 'executed ', pairs * threads

contains

  subroutine work(cpu, wall)
    real(real64), intent(inout) :: cpu, wall
    integer(int64) :: n
    integer :: outer, inner, choice
    integer, volatile :: kept
    real(real64) :: cpu_before, wall_before
    cpu_before = clock_ns(thread_cpu)
    wall_before = clock_ns(monotonic)
    do n = 0, pairs / 2 - 1
      choice = int(iand(n, int(n_choices - 1, int64)))
      outer = outer_choices(choice)
      inner = inner_choices(choice)
      kept = outer + inner
#ifndef EMPTY
      MAREY_ENTER(regions(outer))
      MAREY_ENTER(regions(inner))
      MAREY_LEAVE(regions(inner))
      MAREY_LEAVE(regions(outer))
#endif
    end do
    wall = wall + clock_ns(monotonic) - wall_before
    cpu = cpu + clock_ns(thread_cpu) - cpu_before
  end subroutine work

  !> The same random choices as in the programs in C.
  subroutine choose()
    integer(int64) :: x
    integer :: idx
    x = int(z'9e3779b97f4a7c15', int64)
    do idx = 0, n_choices - 1
      x = ieor(x, ishft(x, 13))
      x = ieor(x, ishft(x, -7))
      x = ieor(x, ishft(x, 17))
      outer_choices(idx) = int(mod(ishft(x, -20), int(outer_names, int64)))
      inner_choices(idx) = outer_names + int(mod(ishft(x, -40), int(n_names - outer_names, int64)))
    end do
  end subroutine choose

  real(real64) function clock_ns(clock)
    integer(c_int), intent(in) :: clock
    type(timespec) :: now
    if (clock_gettime(clock, now) /= 0) error stop 'the clock exists'
    clock_ns = real(now%seconds, real64) * 1e9_real64 + real(now%nanoseconds, real64)
  end function clock_ns
end program workload
