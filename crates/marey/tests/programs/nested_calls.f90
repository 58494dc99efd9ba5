! A statement in a loop, in a subroutine that is called from a loop, in another one that is called twice from the main loop,
! and once from outside of it.
module steps
  implicit none
  real(8), save :: u(100)[*]
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    integer :: i
    real(8) :: taken
    do i = 1, n
      taken = u(i)[2]
      if (taken < 0) error stop
    end do
  end subroutine exchange

  subroutine twice(n)
    integer, intent(in) :: n
    integer :: k
    do k = 1, 2
      call exchange(n)
    end do
  end subroutine twice

  subroutine once(n)
    integer, intent(in) :: n
    real(8) :: taken
    taken = u(n)[2]
    if (taken < 0) error stop
  end subroutine once
end module steps

program nested_calls
  use steps
  implicit none
  integer :: step
  u = this_image()
  sync all
  if (this_image() == 1) then
    do step = 1, 3
      call twice(5)
      call once(step)
    end do
    call once(4)
  end if
  sync all
end program nested_calls
