!> Regions, events, counters and lanes of a Fortran program.
!!
!! A program compiles this file with its own and links nothing (with glibc before 2.34: -ldl).
!! Started by `marey record` it finds the runtime that records the process and calls it; started
!! alone it does nothing, which costs a call and a branch. Fortran 2008; safe with OpenMP.
!!
!!     use marey
!!     type(marey_region), save :: r = marey_region("solve")
!!     call marey_enter(r)
!!     call marey_leave(r)
!!
!! Where even the calls are too dear while nothing records, marey_fortran.h has them behind a test of
!! `marey_on`, which compilers make in place.
!!
!! The one idea: a region keeps its number, and entering it is one call through a pointer into the
!! runtime, which writes into the calling thread's mapped window. Two threads that meet a new
!! region at once both ask for its number and get the same.
!!
!! What is deliberately absent: starting a recorder (`marey record` does) and any output. The
!! runtime's table is `RuntimeTable` in crates/marey-measure/src/table.rs.
module marey
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_f_procpointer, &
    c_funptr, c_int8_t, c_int32_t, c_int64_t, c_intptr_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, &
    c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  private

  public :: marey_on, marey_region, marey_enter, marey_leave, marey_begin, marey_end
  public :: marey_keep, marey_set_detail
  public :: marey_counter, marey_set
  public :: marey_lane, marey_new_lane, marey_lane_enter, marey_lane_leave
  public :: marey_event, marey_event_begin, marey_put, marey_event_end

  !> How much is recorded of a region: nothing, a count by call path, times too, each visit.
  integer, parameter, public :: marey_off = 0, marey_count = 1, marey_time = 2, marey_trace = 3

  integer, parameter :: name_len = 128
  integer, parameter :: max_fields = 16
  !> Numbers are kept plus one, so that a new object is all zeros; this one stands for nothing.
  integer(c_int32_t), parameter :: nothing = -1_c_int32_t
  integer(c_int32_t), parameter :: abi_version = 3_c_int32_t

  !> A place in the source. Its name has at most 128 characters. `file` and `line` may be given
  !! where the preprocessor knows them: marey_region("solve", __FILE__, __LINE__).
  type marey_region
    character(len=name_len) :: name = ''
    character(len=name_len) :: file = ''
    integer(c_int32_t) :: line = 0
    integer(c_int32_t) :: id = 0
  end type marey_region

  !> A quantity with a unit: type(marey_counter), save :: c = marey_counter("cells", "1")
  type marey_counter
    character(len=name_len) :: name = ''
    character(len=name_len) :: unit = '1'
    integer(c_int32_t) :: id = 0
  end type marey_counter

  !> A place of its own that is no thread: a task, a request, a transfer.
  type marey_lane
    private
    integer(c_int32_t) :: id = nothing
  end type marey_lane

  type, bind(c) :: text
    type(c_ptr) :: at
    integer(c_size_t) :: len
  end type text

  !> An event being made, and the kind that it is of. Each thread needs one of its own; where it is
  !! kept between events, the kind need not be looked up again.
  type marey_event
    private
    logical :: on = .false.
    integer(c_int32_t) :: attribute = 0
    integer(c_int32_t) :: id = 0
    integer :: n = 0
    integer :: known = 0
    integer :: len = 0
    character(len=name_len) :: name = ''
    character(len=name_len) :: fields(max_fields) = ''
    integer(c_int8_t) :: types(max_fields) = 0
    integer(c_int8_t) :: known_types(max_fields) = 0
    integer(c_int8_t), allocatable :: bytes(:)
  end type marey_event

  !> Adds a field to an event: integer, real, logical or character.
  interface marey_put
    module procedure put_int8, put_int16, put_int32, put_int64, put_real32, put_real64, put_logical, put_text
  end interface marey_put

  ! The fields of the runtime's table that come before the functions, and the functions.
  type, bind(c) :: table
    integer(c_int32_t) :: abi
    integer(c_int32_t) :: size
    type(c_ptr) :: modes
    type(c_funptr) :: thread, region, enter, leave, begin, end, event_kind, event, attribute
    type(c_funptr) :: counter, count, lane, lane_enter, lane_leave, enter_here, leave_here, keep, detail
  end type table

  abstract interface
    function runtime_function(abi) bind(c)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: abi
      type(c_ptr) :: runtime_function
    end function runtime_function
    function region_function(name, len, file, file_len, line) bind(c)
      import :: c_char, c_int32_t, c_size_t
      character(kind=c_char), intent(in) :: name(*), file(*)
      integer(c_size_t), value :: len, file_len
      integer(c_int32_t), value :: line
      integer(c_int32_t) :: region_function
    end function region_function
    subroutine site_subroutine(site) bind(c)
      import :: c_int32_t
      integer(c_int32_t), value :: site
    end subroutine site_subroutine
    function begin_function(site) bind(c)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: site
      integer(c_int64_t) :: begin_function
    end function begin_function
    subroutine end_subroutine(token) bind(c)
      import :: c_int64_t
      integer(c_int64_t), value :: token
    end subroutine end_subroutine
    function kind_function(name, len, attribute, names, types, n) bind(c)
      import :: c_char, c_int8_t, c_int32_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: len, n
      integer(c_int32_t), value :: attribute
      type(c_ptr), value :: names
      integer(c_int8_t), intent(in) :: types(*)
      integer(c_int32_t) :: kind_function
    end function kind_function
    subroutine event_subroutine(kind, fields, len) bind(c)
      import :: c_int8_t, c_int32_t, c_size_t
      integer(c_int32_t), value :: kind
      integer(c_int8_t), intent(in) :: fields(*)
      integer(c_size_t), value :: len
    end subroutine event_subroutine
    function counter_function(name, len, unit, unit_len) bind(c)
      import :: c_char, c_int32_t, c_size_t
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_size_t), value :: len, unit_len
      integer(c_int32_t) :: counter_function
    end function counter_function
    subroutine count_subroutine(counter, value) bind(c)
      import :: c_double, c_int32_t
      integer(c_int32_t), value :: counter
      real(c_double), value :: value
    end subroutine count_subroutine
    function detail_function(detail, pattern, len) bind(c)
      import :: c_char, c_int32_t, c_size_t
      integer(c_int32_t), value :: detail
      character(kind=c_char), intent(in) :: pattern(*)
      integer(c_size_t), value :: len
      integer(c_int32_t) :: detail_function
    end function detail_function
    function lane_function(name, len) bind(c)
      import :: c_char, c_int32_t, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: len
      integer(c_int32_t) :: lane_function
    end function lane_function
    subroutine lane_site_subroutine(lane, site) bind(c)
      import :: c_int32_t
      integer(c_int32_t), value :: lane, site
    end subroutine lane_site_subroutine
  end interface

  interface
    function dlsym(handle, name) bind(c, name='dlsym')
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function dlsym
  end interface

  !> Address of the runtime that `marey link` has linked into the program: a common block, which the
  !! linker takes from there, and which is zero in programs that have none.
  integer(c_intptr_t) :: linked
  common /marey_linked_runtime/ linked
  bind(c, name='marey_linked_runtime') :: /marey_linked_runtime/

  !> False once it is known that nothing records, and then for good.
  logical, protected :: marey_on = .true.

  integer, parameter :: not_looked = 0, off = 1, on = 2
  !> Stored last by `look`, so that whoever reads `on` finds the pointers set.
  integer, volatile :: state = not_looked
  !> Always first_enter. Called by its name it would be inlined, and make every enter save registers.
  procedure(first_enter), pointer :: the_first => first_enter
  procedure(region_function), pointer :: the_region => null()
  procedure(site_subroutine), pointer :: the_enter => null()
  procedure(site_subroutine), pointer :: the_leave => null()
  procedure(begin_function), pointer :: the_begin => null()
  procedure(end_subroutine), pointer :: the_end => null()
  procedure(kind_function), pointer :: the_kind => null()
  procedure(event_subroutine), pointer :: the_event => null()
  procedure(event_subroutine), pointer :: the_attribute => null()
  procedure(counter_function), pointer :: the_counter => null()
  procedure(count_subroutine), pointer :: the_count => null()
  procedure(lane_function), pointer :: the_lane => null()
  procedure(lane_site_subroutine), pointer :: the_lane_enter => null()
  procedure(lane_site_subroutine), pointer :: the_lane_leave => null()
  procedure(site_subroutine), pointer :: the_keep => null()
  procedure(detail_function), pointer :: the_detail => null()

contains

  !> Enters a region of the calling thread.
  subroutine marey_enter(region)
    type(marey_region), intent(inout) :: region
    if (region%id > 0) then
      call the_enter(region%id - 1)
    else if (state /= off) then
      call the_first(region)
    end if
  end subroutine marey_enter

  !> Leaves it. Regions inside it that are still open are left with it.
  subroutine marey_leave(region)
    type(marey_region), intent(in) :: region
    if (region%id > 0) call the_leave(region%id - 1)
  end subroutine marey_leave

  !> From now on keeps events, or only adds them up. The calling thread changes at once, others when their
  !> windows are full.
  subroutine marey_keep(events)
    logical, intent(in) :: events
    if (recording()) call the_keep(merge(1_c_int32_t, 0_c_int32_t, events))
  end subroutine marey_keep

  !> From now on records so much of the regions that a pattern fits: marey_off, marey_count, marey_time or
  !> marey_trace, as a rule of `marey record --filter` says it; this one counts before all others.
  subroutine marey_set_detail(detail, pattern)
    integer, intent(in) :: detail
    character(len=*), intent(in) :: pattern
    if (recording()) then
      if (the_detail(int(detail, c_int32_t), pattern, size_of(pattern)) == 0) return
    end if
  end subroutine marey_set_detail

  !> Begins a state that need not nest and may end on another thread; marey_end(token) ends it.
  function marey_begin(region) result(token)
    type(marey_region), intent(inout) :: region
    integer(int64) :: token
    token = 0
    if (recording()) then
      if (site_of(region) >= 0) token = the_begin(site_of(region))
    end if
  end function marey_begin

  !> Ends such a state.
  subroutine marey_end(token)
    integer(int64), intent(in) :: token
    if (token /= 0) call the_end(token)
  end subroutine marey_end

  !> Records a counter's new value.
  subroutine marey_set(counter, value)
    type(marey_counter), intent(inout) :: counter
    real(real64), intent(in) :: value
    if (.not. recording()) return
    if (counter%id == 0) then
      counter%id = the_counter(counter%name, size_of(counter%name), counter%unit, size_of(counter%unit)) + 1
    end if
    if (counter%id > 0) call the_count(counter%id - 1, value)
  end subroutine marey_set

  !> A new lane.
  function marey_new_lane(name) result(lane)
    character(len=*), intent(in) :: name
    type(marey_lane) :: lane
    if (recording()) lane%id = the_lane(name, size_of(name))
  end function marey_new_lane

  !> Enters a region on a lane.
  subroutine marey_lane_enter(lane, region)
    type(marey_lane), intent(in) :: lane
    type(marey_region), intent(inout) :: region
    if (lane%id == nothing) return
    if (site_of(region) >= 0) call the_lane_enter(lane%id, site_of(region))
  end subroutine marey_lane_enter

  !> Leaves a region on a lane, and regions inside it that were not left.
  subroutine marey_lane_leave(lane, region)
    type(marey_lane), intent(in) :: lane
    type(marey_region), intent(inout) :: region
    if (lane%id == nothing) return
    if (site_of(region) >= 0) call the_lane_leave(lane%id, site_of(region))
  end subroutine marey_lane_leave

  !> Begins an event, or with attribute=.true. a set of facts about the innermost open region.
  !! Names have at most 128 characters; fields beyond 16 are left out.
  subroutine marey_event_begin(event, name, attribute)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: name
    logical, intent(in), optional :: attribute
    integer(c_int32_t) :: flag
    event%on = recording()
    if (.not. event%on) return
    flag = 0
    if (present(attribute)) flag = merge(1_c_int32_t, 0_c_int32_t, attribute)
    if (event%name /= name .or. event%attribute /= flag) event%id = 0
    event%name = name
    event%attribute = flag
    event%n = 0
    event%len = 0
    if (.not. allocated(event%bytes)) allocate (event%bytes(256))
  end subroutine marey_event_begin

  !> Records the event.
  subroutine marey_event_end(event)
    type(marey_event), intent(inout) :: event
    if (.not. event%on) return
    if (event%id == 0 .or. event%known /= event%n) then
      call define_kind(event)
    else if (any(event%known_types(:event%n) /= event%types(:event%n))) then
      call define_kind(event)
    end if
    if (event%id <= 0) return
    if (event%attribute == 1) then
      call the_attribute(event%id - 1, event%bytes, int(event%len, c_size_t))
    else
      call the_event(event%id - 1, event%bytes, int(event%len, c_size_t))
    end if
  end subroutine marey_event_end

  subroutine put_int8(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    integer(int8), intent(in) :: value
    call put_int64(event, field, int(value, int64))
  end subroutine put_int8

  subroutine put_int16(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    integer(int16), intent(in) :: value
    call put_int64(event, field, int(value, int64))
  end subroutine put_int16

  subroutine put_int32(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    integer(int32), intent(in) :: value
    call put_int64(event, field, int(value, int64))
  end subroutine put_int32

  subroutine put_int64(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    integer(int64), intent(in) :: value
    ! Zigzag: small integers of either sign become small unsigned ones.
    if (has_field(event, field, 1_c_int8_t, 9)) call add_number(event, ieor(shiftl(value, 1), shifta(value, 63)))
  end subroutine put_int64

  subroutine put_real32(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    real(real32), intent(in) :: value
    call put_real64(event, field, real(value, real64))
  end subroutine put_real32

  subroutine put_real64(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    real(real64), intent(in) :: value
    if (has_field(event, field, 2_c_int8_t, 8)) call add_bytes(event, transfer(value, 0_int64), 8)
  end subroutine put_real64

  subroutine put_logical(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    logical, intent(in) :: value
    if (has_field(event, field, 3_c_int8_t, 1)) call add_bytes(event, merge(1_int64, 0_int64, value), 1)
  end subroutine put_logical

  subroutine put_text(event, field, value)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field, value
    integer :: n
    n = len_trim(value)
    if (.not. has_field(event, field, 4_c_int8_t, 9 + n)) return
    call add_number(event, int(n, int64))
    event%bytes(event%len + 1:event%len + n) = transfer(value(:n), event%bytes, n)
    event%len = event%len + n
  end subroutine put_text

  ! ---- What happens inside --------------------------------------------------------------------

  subroutine first_enter(region)
    type(marey_region), intent(inout) :: region
    if (.not. recording()) return
    if (site_of(region) >= 0) call the_enter(site_of(region))
  end subroutine first_enter

  !> The region's site, made if need be; negative if none can be had.
  function site_of(region) result(site)
    type(marey_region), intent(inout) :: region
    integer(c_int32_t) :: site
    if (region%id == 0) then
      site = the_region(region%name, size_of(region%name), region%file, size_of(region%file), region%line)
      ! One store of the whole number, so that another thread sees all of it or nothing.
      if (site >= 0) region%id = site + 1
    else
      site = region%id - 1
    end if
  end function site_of

  pure function size_of(name)
    character(len=*), intent(in) :: name
    integer(c_size_t) :: size_of
    size_of = len_trim(name, c_size_t)
  end function size_of

  !> Whether anything records.
  function recording()
    logical :: recording
    if (state == not_looked) call look()
    recording = state == on
  end function recording

  !> Finds the runtime. Threads that look at once find the same and store the same.
  subroutine look()
    procedure(runtime_function), pointer :: runtime
    type(c_funptr) :: symbol
    type(c_ptr) :: found
    type(table), pointer :: t
    type(table) :: size_only
    the_first => first_enter
    symbol = transfer(linked, c_null_funptr)
    if (linked == 0) symbol = dlsym(c_null_ptr, 'marey_runtime'//c_null_char)
    found = c_null_ptr
    if (c_associated(symbol)) then
      call c_f_procpointer(symbol, runtime)
      found = runtime(abi_version)
    end if
    if (c_associated(found)) then
      call c_f_pointer(found, t)
      if (t%abi == abi_version .and. t%size >= storage_size(size_only) / 8) then
        call bind_functions(t)
        state = on
        return
      end if
    end if
    state = off
    marey_on = .false.
  end subroutine look

  subroutine bind_functions(t)
    type(table), intent(in) :: t
    call c_f_procpointer(t%region, the_region)
    call c_f_procpointer(t%enter_here, the_enter)
    call c_f_procpointer(t%leave_here, the_leave)
    call c_f_procpointer(t%begin, the_begin)
    call c_f_procpointer(t%end, the_end)
    call c_f_procpointer(t%event_kind, the_kind)
    call c_f_procpointer(t%event, the_event)
    call c_f_procpointer(t%attribute, the_attribute)
    call c_f_procpointer(t%counter, the_counter)
    call c_f_procpointer(t%count, the_count)
    call c_f_procpointer(t%lane, the_lane)
    call c_f_procpointer(t%lane_enter, the_lane_enter)
    call c_f_procpointer(t%lane_leave, the_lane_leave)
    call c_f_procpointer(t%keep, the_keep)
    call c_f_procpointer(t%detail, the_detail)
  end subroutine bind_functions

  subroutine define_kind(event)
    type(marey_event), intent(inout), target :: event
    type(text), target :: names(max_fields)
    integer :: idx
    do idx = 1, event%n
      names(idx)%at = c_loc(event%fields(idx))
      names(idx)%len = size_of(event%fields(idx))
    end do
    event%id = the_kind(event%name, size_of(event%name), event%attribute, c_loc(names), event%types, &
                        int(event%n, c_size_t)) + 1
    event%known = event%n
    event%known_types = event%types
  end subroutine define_kind

  !> Begins a field and makes room for its `len` bytes; false to leave it out.
  function has_field(event, field, type_code, len) result(yes)
    type(marey_event), intent(inout) :: event
    character(len=*), intent(in) :: field
    integer(c_int8_t), intent(in) :: type_code
    integer, intent(in) :: len
    logical :: yes
    integer(c_int8_t), allocatable :: more(:)
    yes = event%on .and. event%n < max_fields
    if (.not. yes) return
    if (event%len + len > size(event%bytes)) then
      allocate (more(2 * size(event%bytes) + len))
      more(:event%len) = event%bytes(:event%len)
      call move_alloc(more, event%bytes)
    end if
    event%n = event%n + 1
    event%types(event%n) = type_code
    if (event%fields(event%n) /= field) then
      event%fields(event%n) = field
      event%id = 0
    end if
  end function has_field

  !> Adds a prefix integer: the zeros at the end of its first byte tell how many bytes follow.
  subroutine add_number(event, value)
    type(marey_event), intent(inout) :: event
    integer(int64), intent(in) :: value
    integer :: n
    if (shiftr(value, 56) /= 0) then
      call add_bytes(event, 0_int64, 1)
      call add_bytes(event, value, 8)
    else
      n = (max(1, 64 - leadz(value)) + 6) / 7
      call add_bytes(event, ior(shiftl(value, n), shiftl(1_int64, n - 1)), n)
    end if
  end subroutine add_number

  !> Adds the lowest `n` bytes of a word, lowest first.
  subroutine add_bytes(event, word, n)
    type(marey_event), intent(inout) :: event
    integer(int64), intent(in) :: word
    integer, intent(in) :: n
    integer(c_int8_t) :: eight(8)
    eight = transfer(word, eight)
    event%bytes(event%len + 1:event%len + n) = eight(:n)
    event%len = event%len + n
  end subroutine add_bytes

end module marey
