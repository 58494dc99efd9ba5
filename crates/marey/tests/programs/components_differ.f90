! Components that each image allocates for itself, with bounds of their own: whoever reads another image's has other bounds,
! or none at all. Prints for each statement how many elements this image has moved; its comment names the line.
program components_differ
  implicit none
  type box
    real(8), allocatable :: v(:)
  end type
  type(box), save :: b[*]
  real(8), allocatable :: got(:)
  real(8) :: given(100)
  integer :: me, other, step
  me = this_image()
  other = mod(me, num_images()) + 1
  given = me
  allocate (b%v(100*me:100*me + 10*me - 1))
  b%v = me
  sync all
  do step = 1, 3
    got = b[other]%v(:) ! whole
    call say('whole')
  end do
  got = b[other]%v ! named
  call say('named')
  got = b[other]%v(100*other + 2:) ! from
  call say('from')
  got = b[other]%v(:100*other + 3) ! to
  call say('to')
  got = b[other]%v(100*other + 1:100*other + 5:2) ! steps
  call say('steps')
  sync all
  b[other]%v(:) = given(:10*other) ! sent
  print '(a, 1x, i0)', 'sent', 10*other
  sync all
  if (me /= 2) deallocate (b%v)
  sync all
  if (me /= 2) then
    got = b[2]%v(:) ! alone
    call say('alone')
    got = b[2]%v(202:205) ! some
    call say('some')
  end if
  sync all
  ! Between two others, who have as much as neither knows: nothing is told of how much.
  if (me == 3) then
    b[2]%v(:) = b[2]%v(:) ! between
    print '(a)', 'between 0'
    print '(a)', 'between 0'
  end if
  sync all
contains
  subroutine say(name)
    character(*), intent(in) :: name
    print '(a, 1x, i0)', name, size(got)
  end subroutine
end program
