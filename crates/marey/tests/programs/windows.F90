! Windows of one-sided communication over arrays of Fortran. What each process gives to them, and every access to them, it
! says in a file of its own, as windows.c does. With OLD by the module mpi, else by mpi_f08.
module held
  implicit none
  real(8), save :: field(0:101, 8)
  real(8), allocatable, save :: cells(:)
end module held

program p
  use, intrinsic :: iso_c_binding
#ifdef OLD
  use mpi
#define WINDOW integer
#define TYPE_OF integer
#else
  use mpi_f08
#define WINDOW type(MPI_Win)
#define TYPE_OF type(MPI_Datatype)
#endif
  use held
  implicit none
  integer :: rank, n, error, out, next, step
  integer(MPI_ADDRESS_KIND) :: bytes, at
  WINDOW :: win
  TYPE_OF :: column
  type(c_ptr) :: pointer_to
  real(8), pointer :: made(:)
  real(8) :: got(64), mine(30)
  character(16) :: name

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n, error)
  next = mod(rank + 1, n)
  write (name, '("said.", i0)') rank
  open (newunit=out, file=name, action="write")

  ! A variable of a module, and a row of it, whose elements lie 102 apart.
  field = rank
  bytes = 8 * size(field)
  call MPI_Win_create(field, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call part("held::field", loc(field), bytes, 8)
  call MPI_Type_vector(8, 1, 102, MPI_DOUBLE_PRECISION, column, error)
  call MPI_Type_commit(column, error)
  call MPI_Win_fence(0, win, error)
  do step = 0, n - 1
    at = 102 * step + rank
    call MPI_Get(got, 5 + step, MPI_DOUBLE_PRECISION, step, at, 5 + step, MPI_DOUBLE_PRECISION, win, error)
    call access_to("held::field", "read", step, 8 * (5 + step), 8 * at, "-")
  end do
  at = 7
  call MPI_Get(got(33), 8, MPI_DOUBLE_PRECISION, next, at, 1, column, win, error)
  call access_to("held::field", "read", next, 64, 56_MPI_ADDRESS_KIND, "8:1 8:816")
  call MPI_Win_fence(0, win, error)
  call MPI_Win_free(win, error)
  call MPI_Type_free(column, error)

  ! An allocatable array, by which a window is made twice.
  allocate (cells(2000))
  cells = 0
  do step = 1, 2
    bytes = 8 * (1000 + 10 * rank)
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
    call part("held::cells", loc(cells), bytes, 4)
    call MPI_Win_fence(0, win, error)
    at = 2 * step
    call MPI_Accumulate(got, 6, MPI_DOUBLE_PRECISION, next, at, 6, MPI_DOUBLE_PRECISION, MPI_SUM, win, error)
    call access_to("held::cells", "update", next, 48, 4 * at, "-")
    call MPI_Win_fence(0, win, error)
    call MPI_Win_free(win, error)
  end do

  ! A variable of the program's.
  mine = 1
  bytes = 8 * size(mine)
  call MPI_Win_create(mine, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call part("p::mine", loc(mine), bytes, 8)
  call MPI_Win_fence(0, win, error)
  at = 3
  call MPI_Put(got, 2, MPI_DOUBLE_PRECISION, rank, at, 2, MPI_DOUBLE_PRECISION, win, error)
  call access_to("p::mine", "write", rank, 16, 24_MPI_ADDRESS_KIND, "-")
  call MPI_Win_fence(0, win, error)
  call MPI_Win_free(win, error)

  ! Memory of MPI's, with a name.
  bytes = 8 * 50
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, pointer_to, win, error)
  call c_f_pointer(pointer_to, made, [50])
  call MPI_Win_set_name(win, "made by MPI", error)
  call part("made by MPI", loc(made), bytes, 8)
  made = 0
  call MPI_Win_fence(0, win, error)
  at = 10
  call MPI_Get(got, 4, MPI_DOUBLE_PRECISION, next, at, 4, MPI_DOUBLE_PRECISION, win, error)
  call access_to("made by MPI", "read", next, 32, 80_MPI_ADDRESS_KIND, "-")
  call MPI_Win_fence(0, win, error)
  call MPI_Win_free(win, error)

  close (out)
  deallocate (cells)
  call MPI_Finalize(error)

contains

  subroutine part(name, base, bytes, unit)
    character(*), intent(in) :: name
    integer(8), intent(in) :: base
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes
    integer, intent(in) :: unit
    write (out, '(a, 3(a, i0))') "part" // achar(9) // name, achar(9), base, achar(9), bytes, achar(9), unit
  end subroutine part

  subroutine access_to(name, kind, target, bytes, offset, shape)
    character(*), intent(in) :: name, kind, shape
    integer, intent(in) :: target, bytes
    integer(MPI_ADDRESS_KIND), intent(in) :: offset
    write (out, '(a, 3(a, i0), a)') "access" // achar(9) // name // achar(9) // kind, achar(9), target, achar(9), &
      bytes, achar(9), offset, achar(9) // shape
  end subroutine access_to
end program p
