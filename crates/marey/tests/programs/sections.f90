! Sections of coarrays whose numbers are known, on three images.
program sections
  implicit none
  integer, parameter :: n = 12, m = 8, block = 5
  real(8) :: u(n, m)[*]
  type holder
    real(8), allocatable :: values(:)
  end type holder
  type(holder), save :: parts[*]
  real(8) :: column(n), row(m), three(3), box(4, 2), total
  integer :: me, j, lower, subscripts(3)

  me = this_image()
  u = me
  ! Image 1 has 1:5, image 2 has 6:10, image 3 has 11:15 of what all of them have together.
  lower = 1 + (me - 1) * block
  allocate (parts%values(lower:lower + block - 1))
  parts%values = me
  total = 0
  sync all
  if (me == 1) then
    ! Each column of image 2, then of image 3.
    do j = 1, m
      column = u(:, j)[2]
      total = total + sum(column)
    end do
    do j = 1, m
      u(:, j)[3] = column
    end do
    ! Every second row of image 3.
    do j = 1, n, 2
      row = u(j, :)[3]
      total = total + sum(row)
    end do
    ! Four boxes of 4 by 2, each moved by one in both dimensions.
    do j = 1, 4
      box = u(j:j + 3, j:j + 1)[2]
      total = total + sum(box)
    end do
    ! Downwards.
    column(1:4) = u(10:1:-3, 5)[2]
    ! By a vector of subscripts: 2, 11 and 5.
    subscripts = [2, 11, 5]
    three = u(subscripts, 5)[2]
    total = total + sum(column(1:4)) + sum(three)
    ! Single elements along a diagonal.
    do j = 1, 8
      u(j, j)[2] = j
    end do
    ! Of what is distributed: two sections of image 2 and one of image 3.
    three = parts[2]%values(6:8)
    total = total + sum(three)
    three(1:2) = parts[2]%values(9:10)
    total = total + sum(three(1:2))
    three = parts[3]%values(12:14)
    total = total + sum(three)
  end if
  if (me == 2) column(1:3) = u(1:3, 1)[2]
  sync all
  if (me == 1) print '(a,f0.1)', 'sum ', total
end program sections
