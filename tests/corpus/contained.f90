! Internal procedures that share the host's variables, statement functions, select case, optional arguments.
#ifdef MARK
#define LOOP(name, depth) call loopmark
#else
#define LOOP(name, depth) continue
#endif
program contained
  implicit none
  integer :: n, i, total, square, x
  integer :: cells(100)
  square(x) = x * x + n
  n = 12 + command_argument_count()
  total = 0
  do i = 1, 100 ; LOOP(fill, 1)
    cells(i) = mod(i * 37, 101)
  end do
  do i = 1, n ; LOOP(statement, 1)
    total = ieor(total, square(i)) + cells(i)
  end do
  call accumulate(n)
  do i = 1, n ; LOOP(calls, 1)
    call step(i)
    total = total + weigh(i)
  end do
  call triangle(n)
  print *, total, classify(n * 4)
contains
  subroutine accumulate(m)
    integer, intent(in) :: m
    integer :: j
    do j = 1, m ; LOOP(accumulate, 1)
      total = total + cells(j) * n
    end do
  end subroutine

  subroutine step(m)
    integer, intent(in) :: m
    integer :: j
    j = m
    do while (j > 0) ; LOOP(step, 1)
      cells(j) = cells(j) + total
      j = j / 2
    end do
  end subroutine

  integer function weigh(m) result(w)
    integer, intent(in) :: m
    w = m
    if (m > 5) w = w + cells(m)
  end function

  integer function classify(m) result(w)
    integer, intent(in) :: m
    integer :: j
    w = 0
    do j = 1, m ; LOOP(classify, 1)
      select case (mod(j, 9))
      case (0)
        w = w + 1
      case (1)
        w = w * 3
      case (2)
        w = ieor(w, j)
      case (3)
        w = w - cells(j)
      case (4:5)
        w = w + j
      case (6)
        cells(j) = w
      case default
        w = w + 7
      end select
    end do
  end function

  subroutine triangle(m)
    integer, intent(in) :: m
    integer :: j, k
    do j = 1, m ; LOOP(triangle_outer, 1)
      do k = j, m ; LOOP(triangle_inner, 2)
        total = total + ieor(j, k)
      end do
    end do
  end subroutine
end program
