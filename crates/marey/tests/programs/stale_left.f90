! What a module keeps: a second pointer to a target that is no more, and an array that others allocate.
module left
  implicit none
  real(8), pointer :: kept(:) => null(), gone(:) => null()
  real(8), allocatable :: made(:)
contains
  ! Where it lay.
  integer(8) function leaves_behind(n) result(at)
    integer, intent(in) :: n
    allocate (gone(n))
    kept => gone
    at = loc(gone)
    deallocate (gone)
  end function leaves_behind
end module left
