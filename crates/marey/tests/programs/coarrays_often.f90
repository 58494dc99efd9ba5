! Makes a coarray in each of so many steps, and writes an element of it on the other of two images.
program often
  implicit none
  integer, allocatable :: a(:)[:]
  integer :: step
  do step = 1, 33000
    allocate (a(4)[*])
    if (step > 32990) a(2)[3 - this_image()] = step
    deallocate (a)
  end do
end program often
