! A coarray that is transposed from image to image, and one that is only shifted.
program redistributed
   implicit none
   integer, parameter :: block = 4, steps = 3
   real(8) :: matrix(block, 8)[*], shifted(block)[*], mine(block, 8), edge(block)
   integer :: me, images, other, step
   me = this_image(); images = num_images()
   matrix = me; shifted = me
   sync all
   do step = 1, steps
      do other = 1, images
         mine(:, other) = matrix(:, me)[other]
      end do
      edge = shifted(:)[mod(me, images) + 1]
      sync all
   end do
   if (me == 1) print '(a,f0.1)', 'sum ', sum(mine(:, 1:images)) + sum(edge)
end program redistributed
