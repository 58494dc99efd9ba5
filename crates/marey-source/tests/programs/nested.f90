! Modules, a submodule, generic and type-bound procedures, contained procedures, array expressions.
module grid
  implicit none
  integer, parameter :: wide = kind(1.0d0)
  type :: field
    real(wide), allocatable :: at(:, :)
  contains
    procedure :: smooth
    procedure :: total => total_of
  end type
  interface norm
    module procedure norm_line, norm_plane
  end interface
  interface
    module subroutine report(self)
      type(field), intent(in) :: self
    end subroutine
  end interface
contains
  pure real(wide) function square(x)
    real(wide), intent(in) :: x
    square = x * x
  end function
  real(wide) function norm_line(x)
    real(wide), intent(in) :: x(:)
    integer :: i
    norm_line = 0
    do i = 1, size(x)
      norm_line = norm_line + square(x(i))
    end do
  end function
  real(wide) function norm_plane(x)
    real(wide), intent(in) :: x(:, :)
    integer :: i
    norm_plane = 0
    do i = 1, size(x, 2)
      norm_plane = norm_plane + norm_line(x(:, i))
    end do
  end function
  real(wide) function total_of(self)
    class(field), intent(in) :: self
    total_of = sum(self%at) + norm(self%at)
  end function
  subroutine smooth(self, rounds)
    class(field), intent(inout) :: self
    integer, intent(in) :: rounds
    integer :: r
    do r = 1, rounds
      call once()
    end do
  contains
    subroutine once()
      integer :: i, j
      real(wide), allocatable :: old(:, :)
      old = self%at
      !$omp parallel do
      do j = 2, size(old, 2) - 1
        do i = 2, size(old, 1) - 1
          self%at(i, j) = 0.25_wide * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))
        end do
      end do
    end subroutine
  end subroutine
end module

submodule (grid) output
contains
  module subroutine report(self)
    type(field), intent(in) :: self
    character(len=40) :: text
    write (text, '(a, f12.3)') 'total ', self%total()
    print *, trim(text), maxval(self%at), matmul(self%at(1:2, 1:2), self%at(1:2, 1:2))
  end subroutine
end submodule

subroutine start(x, n)
  use grid, only: wide
  implicit none
  integer, intent(in) :: n
  real(wide), intent(out) :: x(n, n)
  integer :: i, j
  forall (i = 1:n, j = 1:n) x(i, j) = modulo(i * j, 7)
end subroutine

program relax
  use grid
  implicit none
  type(field) :: plane
  integer :: i
  allocate (plane%at(32, 32))
  call start(plane%at, 32)
  call plane%smooth(3)
  do i = 1, 2
    call report(plane)
  end do
end program
