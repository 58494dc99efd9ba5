! Sends and receives a row of a matrix, which does not lie in one piece: gfortran copies it for each call.
program packed
  use mpi
  implicit none
  integer, parameter :: n = 2000
  real(8), allocatable :: a(:, :)
  integer :: rank, error, i, status(MPI_STATUS_SIZE)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  allocate (a(n, n))
  a = rank
  do i = 1, 10
    if (rank == 0) then
      call MPI_Send(a(i, :), n, MPI_REAL8, 1, 0, MPI_COMM_WORLD, error)
      call MPI_Send(a(:, i), n, MPI_REAL8, 1, 2, MPI_COMM_WORLD, error)
    else if (rank == 1) then
      call MPI_Recv(a(i, :), n, MPI_REAL8, 0, 0, MPI_COMM_WORLD, status, error)
      call MPI_Recv(a(:, i), n, MPI_REAL8, 0, 2, MPI_COMM_WORLD, status, error)
    end if
  end do
  call MPI_Finalize(error)
end program packed
