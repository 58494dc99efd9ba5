! MPI calls from Fortran: a procedure of a module, an internal procedure, one that C can call.
! Marks and rules as in c_sites.c. Calls have a constant among their arguments: gfortran 12 says of a
! call to which only variables go that it stands on the first line of its procedure.
module sites
  use mpi
  implicit none
  integer :: total = 0
contains
  subroutine add(x)
    integer, intent(in) :: x
    integer :: y, ierr
    call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierr) ! SITE add
    total = total + y
  end subroutine add

  subroutine work() bind(c)
    integer :: ierr, x, y, requests(2)
    x = 3
    call add(x)
    call MPI_Irecv(y, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(1), ierr) ! SITE work
    call MPI_Send(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierr) ! SITE work
    call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr) ! SITE work
    call inner()
    total = total + y
  contains
    subroutine inner()
      call MPI_Barrier(MPI_COMM_SELF, ierr) ! SITE inner
      total = total + ierr
    end subroutine inner
  end subroutine work
end module sites
