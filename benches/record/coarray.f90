! Operations of coarrays between two images, one element each: what remains is what an operation costs. Prints for each
! the time of one on image 1, ns.
!
!   local_ns    a get from the image itself
!   get_ns      a get from the other
!   send_ns     a send to the other
!   sync_ns     `sync all`
program coarray
  implicit none
  real(8), save :: u(16)[*]
  integer :: calls, i, me, other
  character(len=20) :: word
  real(8) :: sum
  integer(8) :: start

  call get_command_argument(1, word)
  read (word, *) calls
  me = this_image()
  other = 3 - me
  u = me
  sum = 0
  sync all
  call system_clock(start)
  do i = 1, calls
    sum = sum + u(1 + mod(i, 16))[me]
  end do
  call finish('local_ns')
  sync all
  call system_clock(start)
  do i = 1, calls
    sum = sum + u(1 + mod(i, 16))[other]
  end do
  call finish('get_ns')
  sync all
  call system_clock(start)
  do i = 1, calls
    u(1 + mod(i, 16))[other] = 1
  end do
  call finish('send_ns')
  sync all
  call system_clock(start)
  do i = 1, calls
    sync all
  end do
  call finish('sync_ns')
  if (sum < 0) print '(f0.1)', sum
contains
  subroutine finish(name)
    character(*), intent(in) :: name
    integer(8) :: now, rate
    call system_clock(now, rate)
    if (me == 1) print '(a,1x,f0.2)', name, real(now - start, 8) * (1d9 / rate) / calls
  end subroutine
end program
