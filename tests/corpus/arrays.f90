! Array expressions: loops that the compiler makes, next to loops that the source has.
#ifdef MARK
#define LOOP(name, depth) call loopmark
#else
#define LOOP(name, depth) continue
#endif
module fields
  implicit none
contains
  subroutine update(a, b, c)
    real, intent(inout) :: a(:), b(:)
    real, intent(in) :: c(:)
    a = b * 2.0 + c                       !MADE
    where (a > 10.0)                      !MADE
      b = a - 10.0                        !MADE
    elsewhere                             !MADE
      b = 0.0                             !MADE
    end where                             !MADE
    a(2:) = a(:size(a) - 1) + b(2:)       !MADE
  end subroutine

  real function reductions(a, m) result(r)
    real, intent(in) :: a(:), m(:, :)
    r = sum(a) + maxval(a) * 0.5          !MADE
    r = r + dot_product(a, a)             !MADE
    r = r + real(count(a > 3.0))          !MADE
    r = r + sum(matmul(m, m))             !MADE
    r = r + sum(transpose(m) * m)         !MADE
  end function

  real function mixed(a, m) result(r)
    real, intent(inout) :: a(:)
    real, intent(in) :: m(:, :)
    integer :: i, j
    r = 0
    do i = 1, size(m, 2) ; LOOP(mixed_outer, 1)
      a = a + m(:, i)                     !MADE
      do j = 1, i ; LOOP(mixed_inner, 2)
        r = r + a(j) * real(j)
      end do
      r = r + sum(a)                      !MADE
    end do
  end function

  subroutine parallel_like(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    do concurrent (i = 1:n)               !MADE
      a(i) = a(i) * 0.5 + real(i)         !MADE
    end do
    forall (i = 1:n) a(i) = a(i) + 1.0    !MADE
  end subroutine
end module

program arrays
  use fields
  implicit none
  integer :: n, k
  real, allocatable :: a(:), b(:), c(:), m(:, :)
  real :: r
  n = 30 + command_argument_count()
  allocate (a(n), b(n), c(n), m(n, n))
  a = 1.0                                 !MADE
  b = 2.0                                 !MADE
  c = [(real(k), k = 1, n)]               !MADE
  m = reshape([(real(mod(k, 7)), k = 1, n * n)], [n, n]) !MADE
  r = 0
  do k = 1, 5 + mod(n, 3) ; LOOP(main_rounds, 1)
    call update(a, b, c)
    r = r + reductions(a, m) + mixed(a, m)
    call parallel_like(a, n)
  end do
  print '(es10.3)', r
end program
