! Matrix multiplication in blocks, the way Fortran programs do it by hand. usage: matmul SIZE
program multiply
  implicit none
  integer, parameter :: block = 32
  integer :: n, i, j, k, jj, kk
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) n
  allocate (a(n, n), b(n, n), c(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i * j, 17) / 3.0d0
      b(i, j) = mod(i + 3 * j, 23) / 5.0d0
    end do
  end do
  c = 0
  do jj = 1, n, block
    do kk = 1, n, block
      do j = jj, min(jj + block - 1, n)
        do k = kk, min(kk + block - 1, n)
          do i = 1, n
            c(i, j) = c(i, j) + a(i, k) * b(k, j)
          end do
        end do
      end do
    end do
  end do
  print '(es20.10)', sum(c)
end program
