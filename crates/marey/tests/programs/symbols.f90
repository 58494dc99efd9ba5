! References whose subscripts and images the text does not say, with values that anybody can work out.
program symbols
   implicit none
   integer, parameter :: edge = 2
   integer :: u(20, 0:9)[*], v(8)[*], w(6), me, n, i, lo, next
   me = this_image(); n = num_images()
   next = mod(me, n) + 1
   u = me; v = me
   sync all
   ! The image is the next one, the lower bound goes from 1 to 5, and each is worth something else twice in a row.
   do i = 1, 10
      lo = (i + 1) / 2
      w(1:4) = u(lo:lo + 3, edge)[next]
   end do
   ! Two references in a line, which what the text says tells apart.
   w(1:2) = u(edge + 3:edge + 4, i - 9)[next] + u(7:8, i - 6)[next]
   ! Two which nothing does.
   w(1) = v(i - 8)[next] + v(i - 6)[next]
   ! Of a step it is not known how far beyond the last one the bound is.
   w(1:3) = u(lo:n + 13:me + 4, 0)[1]
   ! Values without end: the first ones are kept.
   do i = 1, 60
      v(mod(i, 8) + 1)[next] = i
   end do
   sync all
   print '(a)', 'done'
end program symbols
