! Counted loops, nests up to four deep, do while, exit and cycle, with and without construct names.
#ifdef MARK
#define LOOP(name, depth) call loopmark
#else
#define LOOP(name, depth) continue
#endif
module grids
  implicit none
  integer :: cells(0:63)
contains
  integer function simple(n) result(total)
    integer, intent(in) :: n
    integer :: i
    total = 1
    do i = 1, n ; LOOP(simple, 1)
      total = ieor(total * 3, cells(iand(i, 63)))
    end do
  end function

  integer function strides(n) result(total)
    integer, intent(in) :: n
    integer :: i
    total = 0
    do i = n, 1, -3 ; LOOP(down, 1)
      total = total + cells(iand(i, 63)) * i
    end do
    do i = 1, n, 2 ; LOOP(odd, 1)
      cells(iand(i, 63)) = total + i
    end do
  end function

  integer function four(n) result(total)
    integer, intent(in) :: n
    integer :: i, j, k, l
    total = 0
    do i = 1, n ; LOOP(four_1, 1)
      do j = i, n ; LOOP(four_2, 2)
        do k = j, n ; LOOP(four_3, 3)
          do l = k, n ; LOOP(four_4, 4)
            total = ieor(total, i * j - k * l) + 1
          end do
        end do
        cells(iand(j, 63)) = total
      end do
    end do
  end function

  integer function until_small(n) result(steps)
    integer, intent(in) :: n
    integer :: x
    x = n
    steps = 0
    do while (x > 1) ; LOOP(until_small, 1)
      if (mod(x, 2) == 0) then
        x = x / 2
      else
        x = 3 * x + 1
      end if
      steps = steps + 1
    end do
  end function

  integer function leave(n) result(total)
    integer, intent(in) :: n
    integer :: i, j
    total = 0
    outer: do i = 1, n ; LOOP(leave_outer, 1)
      do j = 1, n ; LOOP(leave_inner, 2)
        if (mod(i * j, 17) == 16) cycle outer
        if (total > 100000) exit outer
        total = total + cells(iand(i + j, 63)) + 1
      end do
      total = total + 1
    end do outer
  end function

  integer function endless(n) result(x)
    integer, intent(in) :: n
    x = n
    do ; LOOP(endless, 1)
      x = x * 2 + 1
      if (x > 5000) exit
      cells(iand(x, 63)) = cells(iand(x, 63)) + x
    end do
  end function

  recursive integer function fib(n) result(f)
    integer, intent(in) :: n
    integer :: i
    f = 0
    if (n < 2) then
      f = n
      return
    end if
    do i = 1, 2 + mod(n, 2) ; LOOP(fib, 1)
      f = f + fib(n - i)
    end do
  end function

  subroutine smooth(a, b, n)
    integer, intent(in) :: n
    real, intent(in) :: a(n, n)
    real, intent(inout) :: b(n, n)
    integer :: i, j
    do j = 2, n - 1 ; LOOP(smooth_j, 1)
      do i = 2, n - 1 ; LOOP(smooth_i, 2)
        b(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine
end module

program nests
  use grids
  implicit none
  integer :: n, i, j
  real :: a(20, 20), b(20, 20)
  n = 9 + command_argument_count()
  do i = 0, 63 ; LOOP(fill, 1)
    cells(i) = i * n
  end do
  do j = 1, n ; LOOP(init_j, 1)
    do i = 1, n ; LOOP(init_i, 2)
      a(i, j) = real(i * j)
      b(i, j) = 0
    end do
  end do
  call smooth(a(1:n, 1:n), b(1:n, 1:n), n) !MADE
  print *, simple(n * 5), strides(n * 7), four(n), until_small(27 * n), leave(n), endless(n), fib(n), b(3, 3)
end program
