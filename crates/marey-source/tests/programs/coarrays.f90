! Coarrays with static storage, each of another size, so that whoever registers them knows them apart.
module grid
  real :: c(10)[*]
end module
program p
  use grid
  real, save :: z(4)[*], zz(3)[*]
  integer, save :: k[*]
  c = 1
  k = 3
  zz = 1
  z = 2
  call s
contains
  subroutine s
    real(8), save :: r(3, 2)[*], q(4)[*]
    q = 1
    r = 2
  end subroutine
end program
