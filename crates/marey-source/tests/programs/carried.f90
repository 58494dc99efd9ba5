! One loop in which each iteration needs the one before, and the same without.
module kernels
  implicit none
contains
  subroutine carry(n, factor, grid, source)
    integer, intent(in) :: n
    real, intent(in) :: factor, source(n)
    real, intent(inout) :: grid(n)
    integer :: i
    do i = 2, n ! loop carried
      grid(i) = grid(i - 1) * factor + source(i)
    end do
  end subroutine

  subroutine spread_out(n, factor, grid, source, result)
    integer, intent(in) :: n
    real, intent(in) :: factor, source(n), grid(n)
    real, intent(inout) :: result(n)
    integer :: i
    do i = 2, n ! loop free
      result(i) = grid(i - 1) * factor + source(i)
    end do
  end subroutine
end module

program carried
  use kernels
  implicit none
  real :: grid(4096), source(4096), result(4096)
  grid = 0
  source = 1
  result = 0
  call carry(4096, 0.5, grid, source)
  call spread_out(4096, 0.5, grid, source, result)
  print *, grid(4096), result(4096)
end program
