! Fortran's one way to wait, and C's; a line for each: CALL FUNCTION CALLS LEAST_NS OWN_NS, by its own clock.
module waiting
  use, intrinsic :: iso_c_binding
  implicit none
  interface
     integer(c_int) function usleep(us) bind(c)
       import :: c_int
       integer(c_int), value :: us
     end function usleep
  end interface
contains
  integer(8) function now()
    call system_clock(now)
  end function now

  subroutine tell(what, calls, least, began)
    character(*), intent(in) :: what
    integer, intent(in) :: calls
    integer(8), intent(in) :: least, began
    integer(8) :: rate
    call system_clock(count_rate=rate)
    print '(a,1x,i0,1x,i0,1x,i0)', what, calls, least, (now() - began) * (1000000000_8 / rate)
  end subroutine tell

  subroutine rests()
    integer(8) :: began
    began = now()
    call sleep(1)
    call tell('sleep rests', 1, 1000000000_8, began)
  end subroutine rests

  subroutine naps()
    integer(8) :: began
    integer :: i, result
    began = now()
    do i = 1, 4
       result = usleep(10000_c_int)
    end do
    call tell('usleep naps', 4, 40000000_8, began)
  end subroutine naps

  subroutine runs()
    integer(8) :: began
    began = now()
    call execute_command_line('sleep 0.02')
    call tell('system runs', 1, 20000000_8, began)
  end subroutine runs
end module waiting

program waits
  use waiting
  implicit none
  call rests()
  call naps()
  call runs()
end program waits
