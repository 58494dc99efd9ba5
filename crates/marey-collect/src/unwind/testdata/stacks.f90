! Array code that gfortran -O3 -march=native vectorises with a realigned stack.
module stacks
  use iso_c_binding
  implicit none
  abstract interface
    subroutine callback_t() bind(c)
    end subroutine
  end interface
contains
  recursive subroutine sweep(callback, n, total)
    procedure(callback_t) :: callback
    integer, intent(in) :: n
    real(8), intent(inout) :: total
    real(8) :: a(16), b(16), c(16)
    integer :: i
    do i = 1, 16
      a(i) = total + i
      b(i) = a(i) * n
    end do
    c = a * b + 1
    call callback()
    if (n > 0) call sweep(callback, n - 1, c(mod(n, 16) + 1))
    call callback()
    total = total + sum(a * b) + sum(c)
  end subroutine

  subroutine run_stacks(pointer) bind(c)
    type(c_funptr), value :: pointer
    procedure(callback_t), pointer :: callback
    real(8) :: total
    call c_f_procpointer(pointer, callback)
    total = 1
    call sweep(callback, 8, total)
    call callback()
    if (total < 0) print *, total
  end subroutine
end module
