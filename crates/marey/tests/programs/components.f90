! Elements of arrays that are components of coarrays, read on image 2 of two. After each read, image 1 says what its text
! means: how far the first element is from the beginning of the array, in bytes, and for each dimension along which it means
! several, how many and how far apart.
program components
  implicit none
  type point
    real(8) :: x(3)
    integer :: id
  end type point
  type holder
    integer :: tag
    real(8) :: fixed(2:5, 0:2)
    integer, allocatable :: owned(:, :)
    type(point) :: points(4)
    character(3) :: names(5)
  end type holder
  type(holder), save :: parts[*]
  type(holder), allocatable, save :: many(:)[:]
  real(8) :: r(4, 3), one
  integer :: i(4, 3), j, tags(8)
  character(3) :: text(2)

  allocate (many(-1:6)[*])
  allocate (parts%owned(0:3, 2:4))
  parts%owned = 1
  parts%fixed = 1
  parts%names = 'abc'
  do j = -1, 6
    allocate (many(j)%owned(2, 3))
    many(j)%owned = j
    many(j)%tag = j
  end do
  j = 3
  sync all
  if (this_image() == 1) then
    one = parts[2]%fixed(3, 1)
    call of_parts(loc(parts%fixed(3, 1)), [1], [0_8])
    one = parts[2]%fixed(j, this_image())
    call of_parts(loc(parts%fixed(3, 1)), [1], [0_8])
    r(1:2, 1) = parts[2]%fixed(2:4:2, 2)
    call of_parts(loc(parts%fixed(2, 2)), [2], [loc(parts%fixed(4, 2)) - loc(parts%fixed(2, 2))])
    r(1:4, 1) = parts[2]%fixed(:, 1)
    call of_parts(loc(parts%fixed(2, 1)), [4], [loc(parts%fixed(3, 1)) - loc(parts%fixed(2, 1))])
    r(1, 1:2) = parts[2]%fixed(2, 1:2)
    call of_parts(loc(parts%fixed(2, 1)), [2], [loc(parts%fixed(2, 2)) - loc(parts%fixed(2, 1))])
    r(1:2, 1:2) = parts[2]%fixed(3:5:2, 1:2)
    call of_parts(loc(parts%fixed(3, 1)), [2, 2], [loc(parts%fixed(5, 1)), loc(parts%fixed(3, 2))] - loc(parts%fixed(3, 1)))
    r(1:3, 1:2) = parts[2]%fixed(3:, 0::2)
    call of_parts(loc(parts%fixed(3, 0)), [3, 2], [loc(parts%fixed(4, 0)), loc(parts%fixed(3, 2))] - loc(parts%fixed(3, 0)))
    r(1:2, 1:3) = parts[2]%fixed(::3, 2:0:-1)
    call of_parts(loc(parts%fixed(2, 2)), [2, 3], [loc(parts%fixed(5, 2)), loc(parts%fixed(2, 1))] - loc(parts%fixed(2, 2)))
    r(1:3, 1) = parts[2]%fixed(5:3:-1, 1)
    call of_parts(loc(parts%fixed(5, 1)), [3], [loc(parts%fixed(4, 1)) - loc(parts%fixed(5, 1))])
    one = parts[2]%points(3)%x(2)
    call of_parts(loc(parts%points(3)%x(2)), [1], [0_8])
    i(1:4, 1) = parts[2]%points(:)%id
    call of_parts(loc(parts%points(1)%id), [4], [loc(parts%points(2)%id) - loc(parts%points(1)%id)])
    r(1:2, 1) = parts[2]%points(2:4:2)%x(3)
    call of_parts(loc(parts%points(2)%x(3)), [2], [loc(parts%points(4)%x(3)) - loc(parts%points(2)%x(3))])
    text = parts[2]%names(2:4:2)
    call of_parts(loc(parts%names(2)), [2], [loc(parts%names(4)) - loc(parts%names(2))])
    ! Those with bounds of their own are told by subscripts: here the first, the step and the number of each.
    i(1:2, 1:3) = parts[2]%owned(::2, :)
    call of_owned(loc(parts%owned(0, 2)), [0, 2, 2, 2, 1, 3])
    i(1:2, 1:2) = parts[2]%owned(2:, :3)
    call of_owned(loc(parts%owned(2, 2)), [2, 1, 2, 2, 1, 2])
    i(1:2, 1) = parts[2]%owned(3:1:-2, 4)
    call of_owned(loc(parts%owned(3, 4)), [3, -2, 2, 4, 1, 1])
    i(1:2, 1) = many(2)[2]%owned(:, 2)
    call say('many%owned', loc(many(2)%owned(1, 2)) - loc(many(2)%owned(1, 1)), [1, 1, 2, 2, 1, 1])
    tags(1:3) = many(::3)[2]%tag
    call say('many', loc(many(-1)%tag) - loc(many(-1)), [-1, 3, 3])
    tags(1:8) = many(:)[2]%tag
    call say('many', loc(many(-1)%tag) - loc(many(-1)), [-1, 1, 8])
  end if
  sync all
contains
  subroutine of_parts(first, number, apart)
    integer(8), intent(in) :: first, apart(:)
    integer, intent(in) :: number(:)
    integer :: at
    call say('parts', first - loc(parts), [(int(apart(at)), number(at), at = 1, size(number))])
  end subroutine of_parts

  subroutine of_owned(first, told)
    integer(8), intent(in) :: first
    integer, intent(in) :: told(:)
    call say('parts%owned', first - loc(parts%owned), told)
  end subroutine of_owned

  subroutine say(array, offset, told)
    character(*), intent(in) :: array
    integer(8), intent(in) :: offset
    integer, intent(in) :: told(:)
    print '(a, *(1x, i0))', array, offset, told
  end subroutine say
end program components
