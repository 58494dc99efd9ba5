! Procedures of Fortran: of a module, recursive, inside another one, external. They count by themselves, for
! nothing can be left uninstrumented.
module work
  implicit none
  integer :: steps = 0, factorials = 0, inners = 0
contains
  subroutine step(n)
    integer, intent(in) :: n
    steps = steps + 1
    call inner(n)
  contains
    subroutine inner(m)
      integer, intent(in) :: m
      inners = inners + m
    end subroutine
  end subroutine

  recursive integer function factorial(n) result(product)
    integer, intent(in) :: n
    factorials = factorials + 1
    product = 1
    if (n > 1) product = n * factorial(n - 1)
  end function
end module

subroutine external_one(n)
  integer, intent(inout) :: n
  n = n + 1
end subroutine

program calls
  use work
  implicit none
  external :: external_one
  integer :: i, externals, sum
  externals = 0
  sum = 0
  do i = 1, 100
    call step(1)
    sum = sum + factorial(mod(i, 10) + 1)
    call external_one(externals)
  end do
  if (sum < 0) stop 1
  print '(a, i0)', 'work::step ', steps, 'work::factorial ', factorials, 'inner ', inners, &
      'external_one ', externals, 'calls ', 1, 'main ', 1, 'main/calls/work::step/inner ', 100
end program
