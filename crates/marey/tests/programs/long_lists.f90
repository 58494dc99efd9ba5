! Lists of subscripts that are too long to be told one by one, or empty, and atomic operations on a part of a type.
program long_lists
   use iso_fortran_env, only: atomic_int_kind
   implicit none
   integer, parameter :: long = 70000, all = 90000
   type counters
      real(8) :: before(4)
      integer(atomic_int_kind) :: number
      real(8) :: behind(4)
   end type counters
   type(counters) :: c[*]
   integer, allocatable :: u(:)[:], at(:), got(:)
   integer :: me, images, other, i, none(0)
   me = this_image(); images = num_images(); other = mod(me, images) + 1
   allocate (u(all)[*], at(long), got(long))
   u = me
   c%number = 0
   sync all
   ! From far to near, so that neither the first nor the last of them is the least.
   at = [(mod(i * 7, long) + 11, i = 1, long)]
   got = u(at)[other]
   got(1:size(none)) = u(none)[other]
   do i = 1, 9
      call atomic_add(c[other]%number, 1)
   end do
   sync all
   if (me == 1) print '(a,i0,1x,i0)', 'sum ', c%number, sum(got - other)
end program long_lists
