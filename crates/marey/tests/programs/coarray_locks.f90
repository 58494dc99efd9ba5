! Two images: the second waits for what the first holds, and for what it posts. Each prints how long it has computed, in ns.
program coarray_locks
  use iso_fortran_env, only: lock_type, event_type
  implicit none
  type(lock_type) :: held[*]
  type(event_type) :: posted[*]
  integer(8) :: computed, tick
  integer :: me
  me = this_image()
  computed = 0
  sync all
  if (me == 1) then
    lock (held[1])
    sync images (2)
    call compute(200)
    unlock (held[1])
    call compute(100)
    event post (posted[2])
  else
    sync images (1)
    lock (held[1])
    unlock (held[1])
    event wait (posted)
    call compute(100)
  end if
  critical
    if (me == 1) call compute(50)
  end critical
  sync all
  call system_clock(count_rate=tick)
  print '(i0, 1x, i0)', me, computed*(1000000000/tick)
contains
  subroutine compute(ms)
    integer, intent(in) :: ms
    integer(8) :: begin, now, rate
    call system_clock(begin, rate)
    do
      call system_clock(now)
      if ((now - begin)*1000/rate >= ms) exit
    end do
    computed = computed + now - begin
  end subroutine
end program
