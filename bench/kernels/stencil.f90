! Heat in a plate: each point becomes the mean of its neighbours, in one procedure a step. usage: stencil STEPS
module plate
  implicit none
contains
  subroutine step(from, to)
    real(8), intent(in) :: from(:, :)
    real(8), intent(inout) :: to(:, :)
    integer :: i, j
    do j = 2, size(from, 2) - 1
      do i = 2, size(from, 1) - 1
        to(i, j) = 0.25d0 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1))
      end do
    end do
  end subroutine

  real(8) function furthest(a, b)
    real(8), intent(in) :: a(:, :), b(:, :)
    integer :: i, j
    furthest = 0
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        if (abs(a(i, j) - b(i, j)) > furthest) furthest = abs(a(i, j) - b(i, j))
      end do
    end do
  end function
end module

program stencil
  use plate
  implicit none
  integer, parameter :: n = 500
  real(8) :: now(n, n), next(n, n), change
  integer :: steps, i
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) steps
  now = 0
  now(1, :) = 100
  now(:, n) = 50
  next = now
  change = 0
  do i = 1, steps
    call step(now, next)
    call step(next, now)
    if (mod(i, 10) == 0) change = furthest(now, next)
  end do
  print '(2es20.10)', sum(now), change
end program
