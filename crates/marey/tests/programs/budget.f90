! The same in Fortran: a function that is called most of the time, and one that is not.
module work
  implicit none
  integer(8) :: hots = 0, colds = 0
contains
  function hot(x) result(y)
    integer(8), intent(in) :: x
    integer(8) :: y
    integer :: i
    hots = hots + 1
    y = x
    do i = 1, 16
      y = ieor(y * 3_8, ishft(y, -7))
    end do
  end function
  function cold(x) result(y)
    integer(8), intent(in) :: x
    integer(8) :: y
    colds = colds + 1
    y = ieor(x, 5_8)
  end function
end module

program budget
  use work
  implicit none
  integer(8) :: x
  integer :: i, j
  x = 1
  do i = 1, 50
    do j = 1, 8000
      x = hot(x)
    end do
    x = cold(x)
  end do
  print '(a,i0)', 'hot ', hots
  print '(a,i0)', 'cold ', colds
  if (x == 0) print '(a)', 'none 0'
end program
