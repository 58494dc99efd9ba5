! A program in Fortran that stops in odd ways.
program odd
  use iso_c_binding, only: c_int32_t
  implicit none
  interface
    subroutine odd_visits(times) bind(c)
      import :: c_int32_t
      integer(c_int32_t), value :: times
    end subroutine
  end interface
  character(len=32) :: word
  integer :: failed
  call get_command_argument(1, word)
  call odd_visits(100_c_int32_t)
  call execute_command_line('exit 4', exitstat=failed)
  print '(a,1x,i0)', trim(word), failed
  select case (word)
  case ('stops')
    call within(1000)
    stop 47
  case ('fails')
    call within(1000)
    error stop 48
  case ('reads')
    open (unit=10, file='/nonexistent/file', status='old')
  end select
contains
  recursive subroutine within(depth)
    integer, intent(in) :: depth
    call odd_visits(1_c_int32_t)
    if (depth > 1) call within(depth - 1)
  end subroutine
end program
