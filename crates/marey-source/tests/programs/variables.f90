! Shows its own data: scope | name | offset / size | where data lie | element | dimensions.
module state
  implicit none
  real, save :: u(0:101, 50)
  real(8), allocatable :: w(:,:)
  type cell
    integer :: n
    real(8) :: v(3)
    real(8), allocatable :: g(:)
  end type
  type(cell) :: c, cells(-1:2)
  integer, pointer :: ptr(:)
  character(len=8) :: names(3)
  complex :: z(4)
  logical, target :: flag
contains
  subroutine step(a, b, k)
    integer, intent(in) :: k
    real, intent(inout) :: a(k), b(:)
    real, save :: loc1(7)
    real(8) :: x(5)
    x = a(1)
    loc1(1) = b(1)
    call show(loc(loc1(3)), 4_8, 'state::step|loc1|8/28|storage|real(4)|1:7')
    call show(loc(x(4)), 8_8, 'state::step|x|24/40|storage|real(8)|1:5')
    call inside
    a(1) = real(x(1))
  contains
    subroutine inside
      integer, save :: deep(2)
      deep(1) = k
      call show(loc(deep(2)), 4_8, 'state::step::inside|deep|4/8|storage|integer(4)|1:2')
    end subroutine
  end subroutine
end module

subroutine old
  real :: q, arr(9)
  integer :: c1(3)
  common /blk/ q, arr
  common c1
  q = 1
  arr(1) = q
  c1 = 2
  call show(loc(arr(3)), 4_8, '/blk/|arr|8/36|storage|real(4)|1:9')
  call show(loc(q), 4_8, '/blk/|q|0/4|storage|real(4)|')
  call show(loc(c1(3)), 4_8, '//|c1|8/12|storage|integer(4)|1:3')
end subroutine

program p
  use state
  implicit none
  integer(8) :: at
  real(8) :: mine(6)
  real, save :: kept(2, 3)
  real(8), allocatable :: mov(:)
  interface
    subroutine show1(a, bytes, what)
      real(8), allocatable, intent(in) :: a(:)
      integer(8), intent(in) :: bytes
      character(*), intent(in) :: what
    end subroutine
    subroutine show2(a, bytes, what)
      real(8), allocatable, intent(in) :: a(:, :)
      integer(8), intent(in) :: bytes
      character(*), intent(in) :: what
    end subroutine
  end interface
  mine = 1
  allocate (w(10, 20), c%g(4))
  w = 1
  u = 1
  call show(loc(u(1, 2)), 4_8, 'state|u|412/20400|storage|real(4)|0:102 1:50')
  call show(loc(w), 8_8, '-')
  call show2(w, 8_8, 'state|w|0/88|descriptor|real(8)|1:? 1:?')
  call show1(c%g, 8_8, 'state|c%g|0/64|descriptor|real(8)|1:?')
  call show1(mov, 8_8, 'p|mov|0/64|descriptor|real(8)|1:?')
  call show(loc(c%v(2)), 8_8, 'state|c%v|8/24|storage|real(8)|1:3')
  call show(loc(c), 96_8, 'state|c|0/96|storage|type(cell)|')
  call show(loc(cells(1)%n), 4_8, 'state|cells%n|0/4|storage|integer(4)|')
  call show(loc(cells(1)), 192_8, 'state|cells|192/384|storage|type(cell)|-1:4')
  at = loc(names(2))
  call show(at, 8_8, 'state|names|8/24|storage|character(8)|1:3')
  call show(loc(z(3)), 8_8, 'state|z|16/32|storage|complex(4)|1:4')
  call show(loc(flag), 4_8, 'state|flag|0/4|storage|logical(4)|')
  call show(loc(kept(2, 2)), 4_8, 'p|kept|12/24|storage|real(4)|1:2 1:3')
  call show(loc(mine(2)), 8_8, 'p|mine|8/48|storage|real(8)|1:6')
  call step(u(:, 1), u(:, 2), 10)
  call old
end program
