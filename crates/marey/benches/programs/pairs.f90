!> Cost of an enter and a leave from Fortran: `pairs N` runs N pairs of 50 regions at depth 2 and
!! prints `ns_per_pair` (wall) and `cpu_ns_per_pair` (this thread). `pairs N empty` is the loop
!! alone. Build with: gfortran -O2 <include>/marey.f90 pairs.f90
program pairs
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use marey
  implicit none
  type(marey_region), save :: regions(0:49)
  character(len=32) :: argument
  integer(int64) :: n, before, after, rate
  real(real64) :: cpu_before, cpu_after
  integer :: idx
  logical :: empty

  call get_command_argument(1, argument)
  n = 10000000
  if (argument /= '') read (argument, *) n
  call get_command_argument(2, argument)
  empty = argument == 'empty'
  do idx = 0, 49
    write (argument, '(a, i0)') 'region ', idx
    regions(idx) = marey_region(argument)
  end do
  call run(1000_int64)
  call system_clock(before, rate)
  call cpu_time(cpu_before)
  if (empty) then
    call run_empty(n)
  else
    call run(n)
  end if
  call cpu_time(cpu_after)
  call system_clock(after)
  print '(a, f0.2)', 'ns_per_pair ', real(after - before, real64) / real(rate, real64) * 1e9_real64 / real(n, real64)
  print '(a, f0.2)', 'cpu_ns_per_pair ', (cpu_after - cpu_before) * 1e9_real64 / real(n, real64)

contains

  subroutine run(n)
    integer(int64), intent(in) :: n
    integer(int64) :: idx
    integer :: outer, inner
    outer = 0
    inner = 0
    do idx = 1, n / 2
      call marey_enter(regions(outer))
      call marey_enter(regions(inner))
      call marey_leave(regions(inner))
      call marey_leave(regions(outer))
      outer = merge(0, outer + 1, outer == 49)
      inner = merge(inner + 7, inner + 7 - 50, inner + 7 < 50)
    end do
  end subroutine run

  subroutine run_empty(n)
    integer(int64), intent(in) :: n
    integer(int64) :: idx
    integer, volatile :: outer, inner
    outer = 0
    inner = 0
    do idx = 1, n / 2
      outer = merge(0, outer + 1, outer == 49)
      inner = merge(inner + 7, inner + 7 - 50, inner + 7 < 50)
    end do
  end subroutine run_empty
end program pairs
