! Heat in a square plate by boundary elements: the dual reciprocity method (DRBEM) in coarray Fortran, first as one
! writes it who is glad that it works, and then repaired step by step.
!
! Build: mpif90 -g -O2 -fcoarray=lib boundary.f90 -lcaf_openmpi
! `./boundary STEP SIDE INSIDE TIMES`: SIDE elements on each side of the plate, INSIDE * INSIDE points within it, and
! TIMES steps of time. STEP says how much is repaired (1 if nothing is said), each step with those before it:
!   1  nothing: rows of other images are read element by element; image 1 combines the matrices alone; there are
!      arrays that nobody needs, and one that is made again and again
!   2  rows of other images are read by one statement, but their elements lie apart
!   3  who has the row puts it into a buffer without gaps, and the others read that
!   4  each image combines its own rows
!   5  rows of others are received without gaps, and then put where they belong
!   6  what nobody needs is gone
!
! The equation is u_t = laplace(u), with u known on the edge. With the fundamental solution -ln(r) / (2 pi), constant
! elements, and particular solutions of laplace(u_hat) = f = 1 + r around each point, it becomes
!   H u - G q = S u_t,   S = (H U_hat - G Q_hat) F**(-1),
! where q is the flux through the edge. Matrices have a row for each point, first those of the edge; an image has
! `rows` rows that follow each other.
program boundary
  implicit none
  real(8), parameter :: pi = acos(-1.0d0), finish = 0.05d0
  ! Rows of the matrices that this image has.
  real(8), allocatable :: f(:, :)[:], h(:, :)[:], g(:, :)[:], s(:, :)[:], a(:, :)[:]
  ! One row without gaps, for others to read: two of them, used in turn.
  real(8), allocatable :: pivot(:, :)[:]
  ! Parts of vectors: right side and solution.
  real(8), allocatable :: side(:)[:], solution(:)[:]
  ! Not needed: the particular solutions, of which each image makes what it uses anew, and `f` as it was.
  real(8), allocatable :: u_hat(:, :)[:], q_hat(:, :)[:], f_kept(:, :)[:]
  ! Places of all points; ends of elements begin(:, k) and begin(:, k + 1), and their normals outwards.
  real(8), allocatable :: place(:, :), corner(:, :), normal(:, :)
  integer :: step, per_side, inside, times, edge, points, me, images, rows, first, last
  real(8) :: tau
  integer(8) :: before

  step = argument(1, 1)
  per_side = argument(2, 80)
  inside = argument(3, 13)
  times = argument(4, 100)
  me = this_image()
  images = num_images()
  edge = 4 * per_side
  points = edge + inside**2
  rows = (points + images - 1) / images
  first = (me - 1) * rows + 1
  last = min(me * rows, points)
  tau = finish / times

  call system_clock(before)
  call make_points
  call assemble
  call tell('assemble')
  call invert(f)
  call tell('invert f')
  if (step < 4) then
    call combine_alone
  else
    call combine_own
  end if
  call tell('combine')
  call make_system
  call invert(a)
  call tell('invert a')
  call march
  call tell('march')
  call judge

contains

  integer function argument(at, otherwise)
    integer, intent(in) :: at, otherwise
    character(len=16) :: text
    integer :: status

    call get_command_argument(at, text)
    read (text, *, iostat=status) argument
    if (status /= 0) argument = otherwise
  end function argument

  ! The plate has its corners at 0 and 1; elements go round it against the clock.
  subroutine make_points
    integer :: k, i, j
    real(8) :: along(2)

    allocate (place(2, points), corner(2, edge + 1), normal(2, edge))
    do k = 1, edge + 1
      along = 0
      j = mod((k - 1) / per_side, 4)
      along(1) = mod(k - 1, per_side) / real(per_side, 8)
      select case (j)
      case (0)
        corner(:, k) = [along(1), 0.0d0]
      case (1)
        corner(:, k) = [1.0d0, along(1)]
      case (2)
        corner(:, k) = [1 - along(1), 1.0d0]
      case (3)
        corner(:, k) = [0.0d0, 1 - along(1)]
      end select
    end do
    do k = 1, edge
      place(:, k) = (corner(:, k) + corner(:, k + 1)) / 2
      along = corner(:, k + 1) - corner(:, k)
      normal(:, k) = [along(2), -along(1)] / norm2(along)
    end do
    do j = 1, inside
      do i = 1, inside
        place(:, edge + (j - 1) * inside + i) = [i, j] / real(inside + 1, 8)
      end do
    end do
  end subroutine make_points

  ! What one element does to a point: the integrals over it of the fundamental solution and its derivative along the
  ! normal, which can be written down for straight elements.
  pure subroutine influence(at, k, of_h, of_g)
    real(8), intent(in) :: at(2)
    integer, intent(in) :: k
    real(8), intent(out) :: of_h, of_g
    real(8) :: along(2), from, to, off

    along = (corner(:, k + 1) - corner(:, k)) / norm2(corner(:, k + 1) - corner(:, k))
    from = dot_product(corner(:, k) - at, along)
    to = dot_product(corner(:, k + 1) - at, along)
    off = dot_product(corner(:, k) - at, normal(:, k))
    of_g = -(antiderivative(to, off) - antiderivative(from, off)) / (2 * pi)
    of_h = 0
    if (abs(off) > 1.0d-12) of_h = -(atan(to / off) - atan(from / off)) / (2 * pi)
  end subroutine influence

  ! Of ln(sqrt(t**2 + off**2)).
  pure real(8) function antiderivative(t, off)
    real(8), intent(in) :: t, off

    antiderivative = t * log(hypot(t, off)) - t
    if (abs(off) > 1.0d-12) antiderivative = antiderivative + off * atan(t / off)
  end function antiderivative

  pure real(8) function u_particular(i, j)
    integer, intent(in) :: i, j
    real(8) :: r

    r = norm2(place(:, i) - place(:, j))
    u_particular = r**2 / 4 + r**3 / 9
  end function u_particular

  pure real(8) function q_particular(k, j)
    integer, intent(in) :: k, j
    real(8) :: from(2)

    from = place(:, k) - place(:, j)
    q_particular = dot_product(from, normal(:, k)) * (0.5d0 + norm2(from) / 3)
  end function q_particular

  ! The rows of this image, with rows of zeros where there are fewer points than rows.
  subroutine assemble
    integer :: i, k, row

    allocate (f(rows, points)[*], h(rows, edge)[*], g(rows, edge)[*], s(rows, points)[*], a(rows, points)[*])
    allocate (side(rows)[*], solution(rows)[*])
    if (step >= 3) allocate (pivot(points, 2)[*])
    f = 0
    h = 0
    g = 0
    do i = first, last
      row = i - first + 1
      do k = 1, edge
        call influence(place(:, i), k, h(row, k), g(row, k))
      end do
      if (i <= edge) h(row, i) = h(row, i) + 0.5d0
      do k = 1, points
        f(row, k) = 1 + norm2(place(:, i) - place(:, k))
      end do
    end do
    if (step >= 6) return
    allocate (u_hat(rows, points)[*], q_hat(rows, points)[*], f_kept(rows, points)[*])
    f_kept = f
    do i = first, last
      row = i - first + 1
      do k = 1, points
        u_hat(row, k) = u_particular(i, k)
        if (i <= edge) q_hat(row, k) = q_particular(i, k)
      end do
    end do
  end subroutine assemble

  ! Gauss-Jordan elimination in place, of a matrix whose rows lie with all images. Without a search for pivots: of all
  ! eigenvalues of F one is positive, and the first step takes it. A has done without so far; what comes out is judged
  ! in the end.
  subroutine invert(m)
    real(8), intent(inout) :: m(:, :)[*]
    real(8) :: row(points), scale
    integer :: k, j, owner, at, turn

    do k = 1, points
      owner = (k - 1) / rows + 1
      at = k - (owner - 1) * rows
      if (step == 1) then
        sync all
        do j = 1, points
          row(j) = m(at, j)[owner]
        end do
        sync all
      else if (step == 2) then
        sync all
        row = m(at, :)[owner]
        sync all
      else
        turn = mod(k, 2) + 1
        if (me == owner) pivot(:, turn) = m(at, :)
        sync all
        row = pivot(:, turn)[owner]
      end if
      scale = 1 / row(k)
      row = row * scale
      row(k) = scale
      call eliminate(m, k, row)
      if (me == owner) m(at, :) = row
    end do
  end subroutine invert

  ! Takes a multiple of the pivot row off each row of this image.
  subroutine eliminate(m, k, row)
    real(8), intent(inout) :: m(:, :)
    integer, intent(in) :: k
    real(8), intent(in) :: row(:)
    real(8) :: column(rows)
    integer :: j

    column = m(:, k)
    m(:, k) = 0
    do j = 1, points
      m(:, j) = m(:, j) - column * row(j)
    end do
  end subroutine eliminate

  ! S = (H U_hat - G Q_hat) F**(-1) of some rows, of which the first is that of point `from`.
  subroutine combine(of_h, of_g, inverse, from, of_s)
    real(8), intent(in) :: of_h(:, :), of_g(:, :), inverse(:, :)
    integer, intent(in) :: from
    real(8), intent(out) :: of_s(:, :)
    real(8) :: p(size(of_h, 1), points)
    integer :: i, j, k

    p = 0
    do j = 1, points
      do k = 1, edge
        p(:, j) = p(:, j) + of_h(:, k) * u_particular(k, j) - of_g(:, k) * q_particular(k, j)
      end do
      do i = max(edge + 1, from), min(points, from + size(p, 1) - 1)
        p(i - from + 1, j) = p(i - from + 1, j) + u_particular(i, j)
      end do
    end do
    of_s = 0
    do j = 1, points
      do k = 1, points
        of_s(:, j) = of_s(:, j) + p(:, k) * inverse(k, j)
      end do
    end do
  end subroutine combine

  ! Image 1 has all brought to it, combines it, and hands out what belongs to others.
  subroutine combine_alone
    real(8), allocatable :: all_h(:, :), all_g(:, :), all_f(:, :), all_s(:, :)
    integer :: image, low, high

    sync all
    if (me == 1) then
      allocate (all_h(rows * images, edge), all_g(rows * images, edge))
      allocate (all_f(rows * images, points), all_s(rows * images, points))
      do image = 1, images
        low = (image - 1) * rows + 1
        high = image * rows
        all_h(low:high, :) = h(:, :)[image]
        all_g(low:high, :) = g(:, :)[image]
        all_f(low:high, :) = f(:, :)[image]
      end do
      call combine(all_h, all_g, all_f(:points, :), 1, all_s)
      do image = 1, images
        s(:, :)[image] = all_s((image - 1) * rows + 1:image * rows, :)
      end do
    end if
    sync all
  end subroutine combine_alone

  ! Each image combines its own rows, for which it needs all of the inverse and nothing else of others.
  subroutine combine_own
    real(8), allocatable :: all_f(:, :)
    ! Not allocatable: to such an array gfortran assigns element by element what comes from another image.
    real(8) :: part(rows, points)
    integer :: image, low, high

    allocate (all_f(rows * images, points))
    sync all
    do image = 1, images
      low = (image - 1) * rows + 1
      high = image * rows
      if (step == 4) then
        all_f(low:high, :) = f(:, :)[image]
      else
        part = f(:, :)[image]
        all_f(low:high, :) = part
      end if
    end do
    call combine(h, g, all_f(:points, :), first, s)
  end subroutine combine_own

  ! One step of time, tau long: (H - S / tau) u - G q = -S / tau u_before. Unknown are q on the edge and u within.
  subroutine make_system
    integer :: i, row

    a(:, :edge) = -g
    a(:, edge + 1:) = -s(:, edge + 1:) / tau
    do i = max(first, edge + 1), last
      row = i - first + 1
      a(row, i) = a(row, i) + 1
    end do
  end subroutine make_system

  pure real(8) function exact(i, time)
    integer, intent(in) :: i
    real(8), intent(in) :: time

    exact = exp(-2 * pi**2 * time) * cos(pi * place(1, i)) * cos(pi * place(2, i))
  end function exact

  ! Steps of time: the right side and the product with the inverse, each image its rows.
  subroutine march
    real(8) :: u(points), whole(rows * images), of_edge(rows, edge)
    integer :: time, i, image

    u = [(exact(i, 0.0d0), i=1, points)]
    of_edge = h - s(:, :edge) / tau
    do time = 1, times
      side = -matmul(s, u / tau)
      u(:edge) = [(exact(i, time * tau), i=1, edge)]
      side = side - matmul(of_edge, u(:edge))
      sync all
      do image = 1, images
        whole((image - 1) * rows + 1:image * rows) = side(:)[image]
      end do
      if (step < 6) then
        solution = matmul(a, whole(:points))
      else
        ! With the colon the array stays the one that it is.
        solution(:) = matmul(a, whole(:points))
      end if
      sync all
      do image = 1, images
        whole((image - 1) * rows + 1:image * rows) = solution(:)[image]
      end do
      u(edge + 1:) = whole(edge + 1:points)
    end do
    u(:edge) = whole(:edge)
    side = 0
    side(:last - first + 1) = u(first:last)
  end subroutine march

  ! How far off the temperatures within are, and the fluxes, relative to the highest temperature and the steepest
  ! slope. No heat flows through the edge.
  subroutine judge
    real(8) :: off, flux, total, highest
    integer :: i, row

    off = 0
    flux = 0
    total = 0
    highest = exp(-2 * pi**2 * finish)
    do i = first, last
      row = i - first + 1
      if (i <= edge) then
        flux = max(flux, abs(side(row)) / (pi * highest))
      else
        off = max(off, abs(side(row) - exact(i, finish)) / highest)
      end if
      total = total + abs(side(row))
    end do
    call co_max(off)
    call co_max(flux)
    call co_sum(total)
    if (me == 1) print '(2(a,es10.3),a,es22.14)', 'error ', off, '   flux ', flux, '   sum ', total
  end subroutine judge

  ! The time since the last call, on image 1.
  subroutine tell(what)
    character(len=*), intent(in) :: what
    integer(8) :: now, rate

    call system_clock(now, rate)
    if (me == 1) print '(a,t12,f8.3,a)', what, real(now - before, 8) / rate, ' s'
    before = now
  end subroutine tell
end program boundary
