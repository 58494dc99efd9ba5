module heat
contains
  subroutine step(n)
    integer, intent(in) :: n
    call probe_fortran(__LINE__, "heat::step")
    if (n > 0) call inner()
  contains
    subroutine inner()
      call probe_fortran(__LINE__, "inner")
    end subroutine
  end subroutine
end module

subroutine external_one()
  call probe_fortran(__LINE__, "external_one")
end subroutine

program diffusion
  use heat
  call step(1)
  call external_one()
  call probe_fortran(__LINE__, "diffusion")
end program
