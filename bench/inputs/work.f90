! Arrays, the run-time library's formatted output, complex numbers, recursion, internal procedures.
program work
  implicit none
  integer, parameter :: n = 220
  real(8) :: a(n, n), b(n, n), total
  complex(8) :: signal(4096)
  character(len=64) :: text
  integer :: i, j, round, digits
  digits = 0
  total = 0
  do round = 1, 26
    do j = 1, n
      do i = 1, n
        a(i, j) = sin(real(i * j + round, 8)) + 1.0d0 / (i + j)
      end do
    end do
    b = matmul(a, transpose(a))
    total = total + sum(b, mask=b > 0) + maxval(a)
    signal = [(cmplx(cos(real(i, 8)), sin(real(i + round, 8)), kind=8), i = 1, size(signal))]
    call transform(signal)
    total = total + abs(signal(round))
    do i = 1, 40000
      write (text, '(i8, f12.4, es14.5)') i, b(mod(i, n) + 1, 1), total
      digits = digits + len_trim(adjustl(text))
    end do
  end do
  print '(f20.6, i10)', total, digits
contains
  recursive subroutine transform(x)
    complex(8), intent(inout) :: x(:)
    complex(8), allocatable :: even(:), odd(:)
    complex(8) :: t
    integer :: k, m
    m = size(x)
    if (m <= 1) return
    even = x(1::2)
    odd = x(2::2)
    call transform(even)
    call transform(odd)
    do k = 1, m / 2
      t = exp(cmplx(0.0d0, -6.283185307179586d0 * (k - 1) / m, kind=8)) * odd(k)
      x(k) = even(k) + t
      x(k + m / 2) = even(k) - t
    end do
  end subroutine
end program
