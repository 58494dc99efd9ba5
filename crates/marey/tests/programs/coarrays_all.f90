! Operations on coarrays that `coarrays.f90` leaves out, each a different number of times, on at least two images.
!
! Where image 1 alone does something, the comment says so; all else is done by each image as often as it says.
program coarrays_all
  use iso_fortran_env, only: atomic_int_kind, event_type, team_type
  implicit none
  integer(atomic_int_kind) :: cell[*]
  integer(atomic_int_kind) :: old, seen
  integer, save :: low(6)[*]
  real(8), save :: high(2, 5)[*]
  integer(8), save :: folded[*]
  real(4), save :: pair(4)[*]
  integer, save :: spare(8)[*]
  type(event_type), save :: news[*]
  type(team_type) :: halves
  integer :: i, me, images, ready, own

  me = this_image()
  images = num_images()
  cell = 0
  low = me
  high = me
  folded = me
  pair = me
  spare = 10 * me
  own = me
  sync all

  ! 2 times on 6 elements of 4 bytes.
  do i = 1, 2
    call co_min(low)
  end do
  ! 3 times on 5 elements of 8 bytes that lie apart.
  do i = 1, 3
    call co_max(high(2, :))
  end do
  ! 5 times on one element of 8 bytes.
  do i = 1, 5
    call co_reduce(folded, larger)
  end do
  ! Once on the middle of an array.
  call co_sum(pair(2:3))
  ! 7 times on what is no coarray.
  do i = 1, 7
    call co_min(own)
  end do

  ! Image 1, 4 times on image 2.
  if (me == 1) then
    do i = 1, 4
      call atomic_define(cell[2], 7)
    end do
  end if
  sync all
  ! Image 1, 6 times on image 2: the first of them finds 7, all others what that has left.
  if (me == 1) then
    do i = 1, 6
      call atomic_cas(cell[2], old, 7, 11)
    end do
  end if
  ! 8 times.
  do i = 1, 8
    sync memory
  end do
  sync all
  call atomic_ref(seen, cell[2])
  ! 3 posts of image 1 to image 2, which asks 9 times before it takes all of them.
  if (me == 1) then
    do i = 1, 3
      event post (news[2])
    end do
  end if
  sync all
  if (me == 2) then
    do i = 1, 9
      call event_query(news, ready)
    end do
    event wait (news, until_count=3)
  end if

  ! Image 1, 11 times from one array on the last image to another on image 2.
  if (me == 1) then
    do i = 1, 11
      low(2:4)[2] = spare(5:7)[images]
    end do
  end if

  form team (1 + mod(me, 2), halves)
  change team (halves)
    ! 10 times.
    do i = 1, 10
      sync team (halves)
    end do
  end team
  sync all
  if (me == 2) print '(9(a,i0))', 'low ', low(6), ' sent ', low(4), ' high ', nint(high(2, 5)), ' apart ', nint(high(1, 5)), &
    ' folded ', folded, ' pair ', nint(pair(2)), ' own ', own, ' seen ', seen, ' ready ', ready
  if (me == 1) print '(a,i0)', 'old ', old

contains

  pure integer(8) function larger(a, b)
    integer(8), value :: a, b
    larger = max(a, b)
  end function larger
end program coarrays_all
