! Allocates by Fortran's means; what is expected of each procedure is worked out in the test.
module arrays
  implicit none
  real(8), allocatable, save :: kept(:)
contains
  subroutine explicit()
    real(8), allocatable :: a(:, :)
    integer :: i
    do i = 1, 10
      allocate (a(500, i))
      a = i
      if (sum(a) /= 500.0_8*i*i) error stop
      deallocate (a)
    end do
  end subroutine

  subroutine scoped()
    real(8), allocatable :: b(:)
    allocate (b(3000))
    b = 1
    if (sum(b) /= 3000) error stop
    ! Freed at the end of the scope.
  end subroutine

  subroutine growing()
    real(8), allocatable :: c(:), d(:)
    allocate (c(1000))
    c = 2
    allocate (d(2000))
    d(1:1000) = c
    d(1001:) = 3
    ! What `c` had goes.
    call move_alloc(d, c)
    if (sum(c) /= 5000) error stop
  end subroutine

  subroutine lasting()
    allocate (kept(4000))
    kept = 4
  end subroutine
end module

program heap
  use arrays
  implicit none
  call explicit()
  call scoped()
  call scoped()
  call growing()
  call lasting()
  print *, sum(kept)
end program
