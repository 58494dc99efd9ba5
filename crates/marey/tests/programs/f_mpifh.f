! The same calls as f_mpi.f90 and f_f08.f90, through mpif.h (fixed form): one text per interface,
! because each takes another way into the library. Runs on 2, 4 ... ranks; prints one line.
      program f_mpifh
      implicit none
      include 'mpif.h'
      integer ierr, rank, nprocs, right, left, i, y, total, bad
      integer comm, vector, cart, win, req(2), newrank
      integer st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 2)
      integer dims(1), a(8), b(8)
      integer(kind=MPI_ADDRESS_KIND) bytes, disp
      logical flag, periods(1)
      integer x, xsum
      integer, allocatable :: shared(:)
! From the heap, so aligned to 16 bytes: MPICH 4.0 loses puts into
! other windows without an error.
      asynchronous shared

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nprocs, ierr)
      right = mod(rank + 1, nprocs)
      left = mod(rank + nprocs - 1, nprocs)
      bad = 0

! Blocking, in an order that cannot deadlock.
      if (mod(rank, 2) .eq. 0) then
        call MPI_SEND(rank, 1, MPI_INTEGER, right, 1,                   &
     &                MPI_COMM_WORLD, ierr)
        call MPI_RECV(y, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, st,   &
     &                ierr)
      else
        call MPI_RECV(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1,             &
     &                MPI_COMM_WORLD, st, ierr)
        call MPI_SEND(rank, 1, MPI_INTEGER, right, 1,                   &
     &                MPI_COMM_WORLD, ierr)
      end if
      if (y .ne. left .or. st(MPI_SOURCE) .ne. left) bad = bad + 1

! Nonblocking: Waitall, then Wait of an unknown sender without a status.
      call MPI_IRECV(y, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD,        &
     &               req(1), ierr)
      call MPI_ISEND(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD,    &
     &               req(2), ierr)
      call MPI_WAITALL(2, req, sts, ierr)
      if (y .ne. left) bad = bad + 1
      call MPI_IRECV(y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3,              &
     &               MPI_COMM_WORLD, req(1), ierr)
      call MPI_SEND(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD,     &
     &              ierr)
      call MPI_WAIT(req(1), MPI_STATUS_IGNORE, ierr)
      if (y .ne. left) bad = bad + 1
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, left, 4, y, 1,            &
     &     MPI_INTEGER, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE,    &
     &     ierr)
      if (y .ne. right) bad = bad + 1
      call MPI_IPROBE(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, st,     &
     &                ierr)
      if (flag) bad = bad + 1

! Every other element of a, as one datatype.
      call MPI_TYPE_VECTOR(4, 1, 2, MPI_INTEGER, vector, ierr)
      call MPI_TYPE_COMMIT(vector, ierr)
      do i = 1, 8
        a(i) = 10 * rank + i
        b(i) = -1
      end do
      call MPI_SENDRECV(a(1), 1, vector, right, 5, b(1), 4,             &
     &     MPI_INTEGER, left, 5, MPI_COMM_WORLD, st, ierr)
      if (b(2) .ne. 10 * left + 3) bad = bad + 1
      call MPI_TYPE_FREE(vector, ierr)

! Collectives and communicators.
      x = 5
      call MPI_BCAST(y, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
      call MPI_ALLREDUCE(x, xsum, 1, MPI_INTEGER, MPI_SUM,              &
     &                   MPI_COMM_WORLD, ierr)
      if (xsum .ne. 5 * nprocs) bad = bad + 1
      call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), rank, comm,     &
     &                    ierr)
      call MPI_COMM_RANK(comm, newrank, ierr)
      if (newrank .ne. rank / 2) bad = bad + 1
      call MPI_BARRIER(comm, ierr)
      call MPI_COMM_FREE(comm, ierr)
      dims(1) = nprocs
      periods(1) = .true.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 1, dims, periods, .false.,   &
     &                     cart, ierr)
      call MPI_BARRIER(cart, ierr)
      call MPI_COMM_FREE(cart, ierr)

! One-sided.
      bytes = 8
      allocate (shared(2))
      shared(1) = -1
      call MPI_WIN_CREATE(shared(1), bytes, 4, MPI_INFO_NULL,           &
     &                    MPI_COMM_WORLD, win, ierr)
      call MPI_WIN_FENCE(0, win, ierr)
      disp = 0
      call MPI_PUT(rank, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER,   &
     &             win, ierr)
      call MPI_WIN_FENCE(0, win, ierr)
      call MPI_WIN_FREE(win, ierr)
      if (shared(1) .ne. left) bad = bad + 1

      call MPI_ALLREDUCE(bad, total, 1, MPI_INTEGER, MPI_SUM,           &
     &                   MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (*, '(a,i0,a,i0)') 'f_mpifh size ',        &
     &     nprocs, ' errors ', total
      call MPI_FINALIZE(ierr)
      if (total .ne. 0) stop 1
      end
