! The integral of 4 / (1 + x^2) with the logging calls of MPE, as Fortran programs have them. What each
! rank has logged is counted here and printed by rank 0.
program mpe_pi
  use mpi
  implicit none
  include 'mpe_logf.h'
  integer :: ierr, rank, nprocs, i, r, k, n = 1000, position
  integer :: broadcast(2), compute(2), reduce(2), estimate
  integer :: counts(4) = 0
  integer, allocatable :: all(:, :)
  character(len=32) :: bytes
  character(len=9), parameter :: names(4) = ['Broadcast', 'Compute  ', 'Reduce   ', 'Estimate ']
  double precision :: x, h, part, pi

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  ierr = MPE_Init_log()
  ierr = MPE_Log_get_state_eventIDs(broadcast(1), broadcast(2))
  ierr = MPE_Log_get_state_eventIDs(compute(1), compute(2))
  ierr = MPE_Log_get_state_eventIDs(reduce(1), reduce(2))
  ierr = MPE_Log_get_solo_eventID(estimate)
  if (rank == 0) then
    ierr = MPE_Describe_state(broadcast(1), broadcast(2), 'Broadcast', 'red')
    ierr = MPE_Describe_info_state(compute(1), compute(2), 'Compute  ', 'blue', 'n = %d')
    ierr = MPE_Describe_comm_state(MPI_COMM_WORLD, reduce(1), reduce(2), 'Reduce', 'green', ' ')
    ierr = MPE_Describe_info_event(estimate, 'Estimate', 'orange', 'pi = %E, by %s')
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  do i = 1, 5
    ierr = MPE_Log_event(broadcast(1), 0, '')
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    ierr = MPE_Log_event(broadcast(2), 0, ' ')
    counts(1) = counts(1) + 1

    position = 0
    ierr = MPE_Log_pack(bytes, position, 'd', 1, n)
    ierr = MPE_Log_comm_event(MPI_COMM_WORLD, compute(1), bytes)
    h = 1d0 / n
    part = 0
    do k = rank + 1, n, nprocs
      x = h * (k - 0.5d0)
      part = part + h * 4 / (1 + x * x)
    end do
    ierr = MPE_Log_bare_event(compute(2))
    counts(2) = counts(2) + 1

    ierr = MPE_Log_event(reduce(1), 0, '')
    call MPI_Allreduce(part, pi, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    ierr = MPE_Log_event(reduce(2), 0, '')
    counts(3) = counts(3) + 1

    if (rank == 0) then
      position = 0
      ierr = MPE_Log_pack(bytes, position, 'E', 1, 3d0)
      ierr = MPE_Log_pack(bytes, position, 's', 6, 'rank 0')
      ierr = MPE_Log_info_event(estimate, bytes)
      counts(4) = counts(4) + 1
    end if
  end do

  call MPE_Seq_begin(MPI_COMM_WORLD, 1)
  call MPE_Seq_end(MPI_COMM_WORLD, 1)
  allocate (all(4, nprocs))
  call MPI_Gather(counts, 4, MPI_INTEGER, all, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    write (*, '(a,f8.5)') 'pi ', pi
    do r = 1, nprocs
      do k = 1, 4
        write (*, '(a,i0,a,a,a,i0)') 'count ', r - 1, ' ', trim(names(k)), ' ', all(k, r)
      end do
    end do
  end if
  ierr = MPE_Finish_log('mpe_pi')
  call MPI_Finalize(ierr)
end program
