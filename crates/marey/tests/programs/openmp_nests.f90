! A lock that nests: free when it is taken again and again by whoever has it; once somebody waits for it, for as long as it says.
program openmp_nests
    use omp_lib
    implicit none
    integer(omp_nest_lock_kind) :: lock
    integer :: i, depth, total = 0
    logical :: is_had = .false.
    real(8) :: from = 0, to = 0, given = 0

    call omp_init_nest_lock(lock)
    do i = 1, 20
        call omp_set_nest_lock(lock)
    end do
    do i = 1, 20
        call omp_unset_nest_lock(lock)
    end do
    !$omp parallel num_threads(2) private(depth, i)
    if (omp_get_thread_num() == 0) then
        call omp_set_nest_lock(lock)
        call omp_set_nest_lock(lock)
        !$omp atomic write
        is_had = .true.
        call nap(0.04d0)
        total = total + 1
        call omp_unset_nest_lock(lock)
        given = omp_get_wtime()
        call omp_unset_nest_lock(lock)
    else
        do while (.not. has_it())
        end do
        from = omp_get_wtime()
        call omp_set_nest_lock(lock)
        to = omp_get_wtime()
        depth = omp_test_nest_lock(lock)
        total = total + depth
        call omp_unset_nest_lock(lock)
        call omp_unset_nest_lock(lock)
    end if
    !$omp end parallel
    call omp_destroy_nest_lock(lock)
    print '(a, i0)', 'total ', total
    print '(i0, 1x, i0)', int((given - from) * 1e9, 8), int((to - from) * 1e9, 8)

contains

    logical function has_it()
        !$omp atomic read
        has_it = is_had
    end function has_it

    subroutine nap(seconds)
        real(8), intent(in) :: seconds
        real(8) :: begin
        begin = omp_get_wtime()
        do while (omp_get_wtime() - begin < seconds)
        end do
    end subroutine nap
end program openmp_nests
