! Neutrons in a slab, one after the other: each flies, scatters and is absorbed or leaves, as random numbers
! decide. usage: montecarlo HISTORIES
module transport
  use iso_fortran_env, only: int64, real64
  implicit none
  real(real64), parameter :: thickness = 8.0_real64, absorption = 0.08_real64
  integer, parameter :: cells = 64
  integer(int64) :: state = 88172645463325252_int64
  real(real64) :: flux(cells) = 0
contains
  function random() result(r)
    real(real64) :: r
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    r = real(ishft(state, -11), real64) * 2.0_real64**(-53)
  end function

  subroutine tally(x, distance)
    real(real64), intent(in) :: x, distance
    integer :: cell
    cell = 1 + int(x / thickness * cells)
    flux(min(max(cell, 1), cells)) = flux(min(max(cell, 1), cells)) + distance
  end subroutine

  subroutine history(has_leaked)
    logical, intent(out) :: has_leaked
    real(real64) :: x, direction, distance
    x = 0
    direction = sqrt(random())
    do
      distance = -log(1 - random())
      x = x + direction * distance
      has_leaked = x < 0 .or. x > thickness
      if (has_leaked) return
      call tally(x, distance)
      if (random() < absorption) return
      direction = 2 * random() - 1
    end do
  end subroutine
end module

program montecarlo
  use transport
  implicit none
  character(len=32) :: argument
  integer(int64) :: histories, i, leaked
  logical :: has_leaked
  call get_command_argument(1, argument)
  read (argument, *) histories
  leaked = 0
  do i = 1, histories
    call history(has_leaked)
    if (has_leaked) leaked = leaked + 1
  end do
  print '(i0, 1x, es14.7)', leaked, sum(flux)
end program
