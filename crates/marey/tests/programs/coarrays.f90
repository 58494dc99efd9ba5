! Operations on coarrays whose numbers are known, on at least three images.
module shared
  implicit none
  real(8), allocatable, save :: grid(:, :)[:]
  integer :: fixed(0:9)[*]
  type holder
    integer :: length
    real(8), allocatable :: values(:)
  end type holder
  type(holder), save :: parts[*]
contains
  subroutine rows(n)
    integer, intent(in) :: n
    real(4), allocatable, save :: local(:)[:]
    real(4) :: copy
    integer :: i
    allocate (local(n)[*])
    local = real(this_image())
    sync all
    if (this_image() == 1) then
      do i = 1, n
        copy = local(i)[2]
      end do
    end if
    sync all
    deallocate (local)
  end subroutine rows
end module shared

program coarrays
  use iso_fortran_env, only: atomic_int_kind, lock_type, event_type, team_type
  use shared
  implicit none
  real(8) :: taken(20)
  integer :: subscripts(3), i, me, total
  integer(atomic_int_kind) :: counter[*]
  integer(atomic_int_kind) :: seen
  type(lock_type), save :: guard[*]
  type(event_type), save :: news[*]
  type(team_type) :: halves
  integer, save :: unused(100)[*]

  me = this_image()
  allocate (grid(10, 20)[*])
  allocate (parts%values(8))
  grid = me
  parts%values = me
  fixed = me
  counter = 0
  unused = 0
  sync all
  if (me == 1) then
    ! 3 gets of a strided row, of 20 elements, from image 3.
    do i = 1, 3
      taken = grid(4, :)[3]
    end do
    ! 2 sends of a column of 10 elements to image 2.
    do i = 1, 2
      grid(:, 5)[2] = 1.5d0
    end do
    ! 1 get by a vector of subscripts.
    subscripts = [9, 1, 5]
    taken(1:3) = grid(subscripts, 2)[2]
    ! 1 get of every third element.
    taken(1:4) = grid(1:10:3, 1)[2]
    ! 4 sends of a single element to images in turn.
    do i = 0, 3
      fixed(i)[2] = i
    end do
    ! 5 gets of part of a component.
    do i = 1, 5
      taken(1:3) = parts[2]%values(2:4)
    end do
    ! From image 2 to image 3: one that reads and writes.
    fixed(5:6)[3] = fixed(7:8)[2]
  end if
  sync all
  do i = 1, 6
    call atomic_add(counter[1], 1)
  end do
  sync all
  call atomic_ref(seen, counter[1])
  lock (guard[1])
  unlock (guard[1])
  if (me == 2) event post (news[1])
  if (me == 1) event wait (news)
  total = me
  call co_sum(total)
  call co_broadcast(fixed, source_image=1)
  if (me == 1) sync images (2)
  if (me == 2) sync images (1)
  form team (1 + mod(me, 2), halves)
  change team (halves)
    ! Image 2 of the odd ones is image 3 of all, of the even ones image 4 if there is one.
    if (this_image() == 1 .and. num_images() > 1) i = fixed(0)[2]
    sync all
  end team
  call rows(7)
  if (me == 1) print '(a,i0,a,i0)', 'sum ', total, ' seen ', seen
end program coarrays
