! The same calls as f_mpifh.f and f_f08.f90, through `use mpi`: one text per interface, because each
! takes another way into the library. Runs on 2, 4 ... ranks; prints one line.
program f_mpi
  use mpi
  implicit none
  integer :: ierr, rank, nprocs, right, left, i, y, total, bad = 0
  integer :: comm, vector, cart, win, req(2), newrank
  integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 2)
  integer :: a(8), b(8)
  ! From the heap, so aligned to 16 bytes: MPICH 4.0 loses puts into other windows without an error.
  integer, allocatable, asynchronous :: shared(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 8, disp = 0
  logical :: flag
  integer :: x = 5, xsum

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  right = mod(rank + 1, nprocs)
  left = mod(rank + nprocs - 1, nprocs)

  ! Blocking, in an order that cannot deadlock.
  if (mod(rank, 2) == 0) then
    call MPI_Send(rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(y, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, st, ierr)
  else
    call MPI_Recv(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, st, ierr)
    call MPI_Send(rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
  end if
  if (y /= left .or. st(MPI_SOURCE) /= left) bad = bad + 1

  ! Nonblocking: Waitall, then Wait of an unknown sender without a status.
  call MPI_Irecv(y, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, req(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req(2), ierr)
  call MPI_Waitall(2, req, sts, ierr)
  if (y /= left) bad = bad + 1
  call MPI_Irecv(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, req(1), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
  call MPI_Wait(req(1), MPI_STATUS_IGNORE, ierr)
  if (y /= left) bad = bad + 1
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, left, 4, y, 1, MPI_INTEGER, right, 4, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (y /= right) bad = bad + 1
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, st, ierr)
  if (flag) bad = bad + 1

  ! Every other element of a, as one datatype.
  call MPI_Type_vector(4, 1, 2, MPI_INTEGER, vector, ierr)
  call MPI_Type_commit(vector, ierr)
  a = [(10 * rank + i, i = 1, 8)]
  b = -1
  call MPI_Sendrecv(a(1), 1, vector, right, 5, b(1), 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, st, ierr)
  if (b(2) /= 10 * left + 3) bad = bad + 1
  call MPI_Type_free(vector, ierr)

  ! Collectives and communicators.
  call MPI_Bcast(y, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(x, xsum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (xsum /= 5 * nprocs) bad = bad + 1
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call MPI_Comm_rank(comm, newrank, ierr)
  if (newrank /= rank / 2) bad = bad + 1
  call MPI_Barrier(comm, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [nprocs], [.true.], .false., cart, ierr)
  call MPI_Barrier(cart, ierr)
  call MPI_Comm_free(cart, ierr)

  ! One-sided.
  allocate (shared(2), source=-1)
  call MPI_Win_create(shared(1), bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(rank, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Win_free(win, ierr)
  if (shared(1) /= left) bad = bad + 1

  call MPI_Allreduce(bad, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) write (*, '(a,i0,a,i0)') 'f_mpi size ', nprocs, ' errors ', total
  call MPI_Finalize(ierr)
  if (total /= 0) stop 1
end program
