! Fortran's ways to write: formatted, unformatted, stream and direct access.
program files
  implicit none
  integer :: i, n, unit
  real(8) :: values(1000), sum
  character(len=40) :: line
  values = [(real(i, 8), i = 1, 1000)]
  open (newunit=unit, file='formatted', status='replace')
  do i = 1, 1000
     write (unit, '(i8, f12.3)') i, values(i)
  end do
  close (unit)
  open (newunit=unit, file='formatted', status='old')
  sum = 0
  do i = 1, 1000
     read (unit, '(a)') line
     read (line, *) n, values(i)
     sum = sum + values(i)
  end do
  close (unit)
  print *, sum
  open (newunit=unit, file='unformatted', form='unformatted', status='replace')
  do i = 1, 50
     write (unit) values
  end do
  rewind (unit)
  do i = 1, 50
     read (unit) values
  end do
  close (unit)
  open (newunit=unit, file='stream', form='unformatted', access='stream', status='replace')
  write (unit) values
  write (unit, pos=20001) values(1:10)
  read (unit, pos=801) values(1:5)
  flush (unit)
  close (unit)
  print *, values(1)
  open (newunit=unit, file='direct', form='unformatted', access='direct', recl=800, status='replace')
  do i = 1, 20
     write (unit, rec=21 - i) values(1:100)
  end do
  read (unit, rec=7) values(1:100)
  close (unit)
end program files
