! An assignment of arrays that are laid out differently: `a` by blocks, `b` dealt out in turn. Each element of `b` that
! an image assigns to lies with another image, so the innocent loop reads one element of a remote array per step.
!
! Build: mpif90 -g -O2 -fcoarray=lib misaligned.f90 -lcaf_openmpi
! `./misaligned aligned` has both laid out alike, which is the repair.
program misaligned
  implicit none
  integer, parameter :: per_image = 250000, steps = 4
  real(8), allocatable :: a(:)[:], b(:)[:]
  integer :: me, images, i, step, from, at
  integer(8) :: start, finish, rate
  character(len=16) :: layout
  real(8) :: total

  call get_command_argument(1, layout)
  me = this_image()
  images = num_images()
  allocate (a(per_image)[*], b(per_image)[*])
  b = me
  a = 0
  sync all
  call system_clock(start, rate)
  do step = 1, steps
    if (layout == 'aligned') then
      a = b + step
    else
      do i = 1, per_image
        ! Element (me - 1) * per_image + i of `b`, which is dealt out in turn.
        from = 1 + mod((me - 1) * per_image + i - 1, images)
        at = 1 + ((me - 1) * per_image + i - 1) / images
        a(i) = b(at)[from] + step
      end do
    end if
    sync all
  end do
  call system_clock(finish)
  total = sum(a)
  call co_sum(total)
  if (me == 1) print '(a,f0.1)', 'sum ', total
  if (me == 1) print '(a,f0.3,a)', 'assignments ', real(finish - start, 8) / rate, ' s'
end program misaligned
