! Like arrays.c: number of the message, name, distance from the beginning, address of the beginning, which of that name.
module state
  use mpi
  implicit none
  integer :: rank, number = 0
  real(8), save :: u(0:99, 10)
  real(8), allocatable :: w(:, :)
  type cells
    integer :: n
    real(8), allocatable :: g(:)
  end type
  type(cells) :: c
contains
  subroutine exchange(a, n, name, at, begin)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    character(*), intent(in) :: name
    integer(8), intent(in) :: at, begin
    integer :: error
    if (rank == 0) then
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, error)
    else
      call MPI_Recv(a, n, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end if
    print '(I0,A,I0,A,A,A,I0,A,I0,A)', rank, char(9), number, char(9), name, char(9), at - begin, char(9), begin, char(9)//'0'
    number = number + 1
  end subroutine
  subroutine locals(n)
    integer, intent(in) :: n
    real(8) :: x(40)
    x = n
    call exchange(x(n), 10, 'state::locals::x', loc(x(n)), loc(x))
  end subroutine
  subroutine common_block
    real(8) :: q, arr(50)
    common /blk/ q, arr
    q = 1
    arr = 2
    call exchange(arr(5), 20, '/blk/::arr', loc(arr(5)), loc(arr))
  end subroutine
end module

program p
  use state
  implicit none
  integer :: error, i
  real(8), allocatable :: mine(:)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  ! Each into a file of its own: launchers mix the lines of ranks.
  open (unit=6, file='said.'//char(48 + rank), status='replace')
  allocate (w(100, 30), c%g(2000), mine(1000))
  w = 1
  c%g = 2
  mine = 3
  u = 4
  do i = 1, 3
    call exchange(u(:, i), 100, 'state::u', loc(u(0, i)), loc(u))
    call exchange(w(:, i + 4), 100, 'state::w', loc(w(1, i + 4)), loc(w))
    call exchange(c%g(7), 100, 'state::c%g', loc(c%g(7)), loc(c%g))
    call exchange(mine(1), 100, 'p::mine', loc(mine(1)), loc(mine))
    call locals(i)
    call common_block
  end do
  call MPI_Finalize(error)
end program
