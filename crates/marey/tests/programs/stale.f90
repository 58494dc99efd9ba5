! Sends from arrays that lie where others have lain, to which a pointer of a module still points.
program stale
  use mpi
  use left
  implicit none
  integer, parameter :: n = 1048576
  integer(8) :: at
  integer :: error

  call MPI_Init(error)
  ! The second time, as the allocator has learned of this size by then.
  at = leaves_behind(n)
  at = leaves_behind(n)
  call send_anew(1)
  allocate (made(n))
  print '(i0, 1x, a)', 2, merge('same ', 'other', loc(made) == at)
  call exchange(2, made)
  deallocate (made)
  call MPI_Finalize(error)
contains
  subroutine send_anew(tag)
    integer, intent(in) :: tag
    real(8), allocatable :: anew(:)
    allocate (anew(n))
    print '(i0, 1x, a)', tag, merge('same ', 'other', loc(anew) == at)
    call exchange(tag, anew)
  end subroutine send_anew

  subroutine exchange(tag, block)
    integer, intent(in) :: tag
    real(8), intent(inout) :: block(n)
    real(8), allocatable :: received(:)
    integer :: request
    block = tag
    call MPI_Isend(block, n, MPI_REAL8, 0, tag, MPI_COMM_SELF, request, error)
    allocate (received(n))
    call MPI_Recv(received, n, MPI_REAL8, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine exchange
end program stale
