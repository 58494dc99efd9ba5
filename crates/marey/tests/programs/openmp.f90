! Constructs of OpenMP in Fortran, each as often as it says; what it prints is what its bodies have counted.
program openmp
    use omp_lib
    implicit none
    integer, parameter :: team = 3
    integer :: i, chunks = 0, named = 0, tasks = 0, sections = 0, ordered = 0, implicit_tasks = 0, singles = 0
    integer :: wrong = 0
    integer(8) :: total = 0
    character(17) :: text
    real, allocatable :: field(:)

    !$omp parallel num_threads(team)
    !$omp atomic
    implicit_tasks = implicit_tasks + 1
    !$omp do schedule(dynamic, 4) reduction(+: total)
    do i = 1, 50
        total = total + i
        if (mod(i, 4) == 1) then
            !$omp atomic
            chunks = chunks + 1
        end if
    end do
    !$omp end do
    !$omp do ordered schedule(dynamic, 1)
    do i = 1, 8
        !$omp atomic
        chunks = chunks + 1
        !$omp ordered
        ordered = ordered + 1
        !$omp end ordered
    end do
    !$omp end do
    !$omp sections
    !$omp section
    !$omp atomic
    sections = sections + 1
    !$omp section
    !$omp atomic
    sections = sections + 1
    !$omp end sections
    do i = 1, 5
        !$omp critical (update)
        named = named + 1
        !$omp end critical (update)
    end do
    !$omp end parallel

    allocate (field(1000))
    field = 1
    text = 'what a task keeps'
    !$omp parallel num_threads(team)
    !$omp single
    !$omp atomic
    singles = singles + 1
    do i = 1, 300
        !$omp task firstprivate(i, field, text) shared(tasks, wrong)
        field(1) = i
        if (sum(field) /= 999 + i .or. text /= 'what a task keeps') then
            !$omp atomic
            wrong = wrong + 1
        end if
        !$omp atomic
        tasks = tasks + 1
        !$omp end task
    end do
    !$omp taskwait
    !$omp end single
    !$omp end parallel
    implicit_tasks = implicit_tasks + team

    print '(a, i0, 1x, i0)', 'total ', total, wrong
    print '(a, i0)', 'implicit task ', implicit_tasks, 'chunk ', chunks, 'section ', sections, 'single ', singles, &
        'critical(update) ', named, 'ordered ', ordered, 'task ', tasks, 'task create ', tasks, 'parallel ', 2, &
        'loop ', 2 * team, 'sections ', team
end program
