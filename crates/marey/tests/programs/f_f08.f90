! The same calls as f_mpifh.f and f_mpi.f90, through `use mpi_f08`: one text per interface, because each
! takes another way into the library. Runs on 2, 4 ... ranks; prints one line.
program f_f08
  use mpi_f08
  implicit none
  integer :: rank, nprocs, right, left, i, y, total, bad = 0
  integer :: newrank
  type(MPI_Comm) :: comm, cart
  type(MPI_Datatype) :: vector
  type(MPI_Win) :: win
  type(MPI_Request) :: req(2)
  type(MPI_Status) :: st, sts(2)
  integer :: a(8), b(8)
  ! From the heap, so aligned to 16 bytes: MPICH 4.0 loses puts into other windows without an error.
  integer, allocatable, asynchronous :: shared(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 8, disp = 0
  logical :: flag
  integer :: x = 5, xsum

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  right = mod(rank + 1, nprocs)
  left = mod(rank + nprocs - 1, nprocs)

  ! Blocking, in an order that cannot deadlock.
  if (mod(rank, 2) == 0) then
    call MPI_Send(rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
    call MPI_Recv(y, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, st)
  else
    call MPI_Recv(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, st)
    call MPI_Send(rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
  end if
  if (y /= left .or. st%MPI_SOURCE /= left) bad = bad + 1

  ! Nonblocking: Waitall, then Wait of an unknown sender without a status.
  call MPI_Irecv(y, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, req(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, req(2))
  call MPI_Waitall(2, req, sts)
  if (y /= left) bad = bad + 1
  call MPI_Irecv(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, req(1))
  call MPI_Send(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD)
  call MPI_Wait(req(1), MPI_STATUS_IGNORE)
  if (y /= left) bad = bad + 1
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, left, 4, y, 1, MPI_INTEGER, right, 4, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (y /= right) bad = bad + 1
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, st)
  if (flag) bad = bad + 1

  ! Every other element of a, as one datatype.
  call MPI_Type_vector(4, 1, 2, MPI_INTEGER, vector)
  call MPI_Type_commit(vector)
  a = [(10 * rank + i, i = 1, 8)]
  b = -1
  call MPI_Sendrecv(a(1), 1, vector, right, 5, b(1), 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, st)
  if (b(2) /= 10 * left + 3) bad = bad + 1
  call MPI_Type_free(vector)

  ! Collectives and communicators.
  call MPI_Bcast(y, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
  call MPI_Allreduce(x, xsum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (xsum /= 5 * nprocs) bad = bad + 1
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
  call MPI_Comm_rank(comm, newrank)
  if (newrank /= rank / 2) bad = bad + 1
  call MPI_Barrier(comm)
  call MPI_Comm_free(comm)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [nprocs], [.true.], .false., cart)
  call MPI_Barrier(cart)
  call MPI_Comm_free(cart)

  ! One-sided.
  allocate (shared(2), source=-1)
  call MPI_Win_create(shared(1), bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  call MPI_Put(rank, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call MPI_Win_free(win)
  if (shared(1) /= left) bad = bad + 1

  call MPI_Allreduce(bad, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) write (*, '(a,i0,a,i0)') 'f_f08 size ', nprocs, ' errors ', total
  call MPI_Finalize()
  if (total /= 0) stop 1
end program
