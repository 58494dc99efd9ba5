! Four procedures with known shares of the processor time, in a module and inside the program.
module shares
  implicit none
  real(8), volatile :: sink = 0
contains
  subroutine ten(rounds)
    integer, intent(in) :: rounds
    integer :: i
    real(8) :: s
    s = 0
    do i = 1, rounds
      s = s + i * 0.5d0
    end do
    sink = s
  end subroutine
  subroutine twenty(a)
    real(8), intent(inout) :: a(:)
    integer :: k
    do k = 1, 20
      a = a * 0.999d0 + sqrt(a + k)
    end do
    sink = a(3)
  end subroutine
  recursive subroutine thirty(rounds, depth)
    integer, intent(in) :: rounds, depth
    integer :: i
    real(8) :: s
    if (depth > 0) then
      call thirty(rounds, depth - 1)
      sink = sink + 1
      return
    end if
    s = 2
    do i = 1, rounds
      s = s * 0.998d0 + i
    end do
    sink = s
  end subroutine
end module

program main
  use shares
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function clock_gettime(clock, time) bind(c)
      import
      integer(c_int), value :: clock
      integer(c_long), intent(out) :: time(2)
    end function
  end interface
  character(6), parameter :: names(4) = [character(6) :: "ten", "twenty", "thirty", "forty"]
  real(8) :: sums(4), begin, finish
  real(8), allocatable :: a(:)
  integer :: round, i
  allocate(a(10000), source=1d0)
  sums = 0
  do round = 1, 3
    do i = 1, 4
      begin = now()
      finish = begin
      do while (finish - begin < i * 1d8)
        select case (i)
        case (1)
          call ten(200000)
        case (2)
          call twenty(a)
        case (3)
          call thirty(200000, 12)
        case (4)
          call forty(a)
        end select
        finish = now()
      end do
      sums(i) = sums(i) + finish - begin
    end do
  end do
  do i = 1, 4
    print '(a, 1x, i0)', trim(names(i)), nint(sums(i), 8)
  end do
contains
  real(8) function now()
    integer(c_long) :: time(2)
    integer(c_int) :: status
    status = clock_gettime(3_c_int, time)
    now = time(1) * 1d9 + time(2)
  end function
  subroutine forty(b)
    real(8), intent(inout) :: b(:)
    integer :: j, k
    do k = 1, 20
      do j = 2, size(b)
        b(j) = b(j - 1) * 0.5d0 + b(j) * 0.25d0
      end do
    end do
    sink = b(5)
  end subroutine
end program
