! A loop in which each iteration needs the one before; a line is exchanged to make it free of that.
module kernels
  implicit none
contains
  subroutine sweep(n, factor, grid, source, old)
    integer, intent(in) :: n
    real, intent(in) :: factor, source(n), old(n)
    real, intent(inout) :: grid(n)
    integer :: i
    do i = 2, n ! the loop
      grid(i) = grid(i - 1) * factor + source(i)
    end do
  end subroutine
end module

program remarked
  use kernels
  implicit none
  integer, parameter :: n = 4096
  real :: grid(n), source(n), old(n)
  integer :: k, times
  character(len=32) :: argument
  call get_command_argument(1, argument)
  read (argument, *) times
  do k = 1, n
    source(k) = mod(k, 7)
    old(k) = mod(k, 5)
  end do
  grid = 0
  do k = 1, times
    call sweep(n, 0.5, grid, source, old)
  end do
  print *, grid(n)
end program
