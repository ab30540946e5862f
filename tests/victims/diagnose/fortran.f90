! Hot in an inner loop of a subroutine in Fortran.
module grid
  implicit none
  integer, parameter :: side = 500
  real(8) :: plate(side, side) = 1, next(side, side) = 1
contains
  subroutine smooth()
    integer :: i, j
    do j = 2, side - 1 ! hot: columns
      do i = 2, side - 1 ! hot: rows
        next(i, j) = sqrt(plate(i - 1, j) + plate(i + 1, j) + plate(i, j - 1) + plate(i, j + 1))
      end do
    end do
  end subroutine

  subroutine copy_back()
    integer :: j
    do j = 2, side - 1, 4
      plate(2:side - 1, j) = next(2:side - 1, j)
    end do
  end subroutine
end module

program heat
  use grid
  implicit none
  integer(8) :: now, begin, rate
  real(8) :: seconds, used, before, after, begun
  character(32) :: text
  character(4096) :: path, stop_file
  logical :: told
  integer :: k
  seconds = 6
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) seconds
  end if
  used = 0
  call get_environment_variable('DIAGNOSE_STOP', stop_file)
  if (len_trim(stop_file) > 0) then
    open (8, file=trim(stop_file) // '.begun')
    close (8)
  end if
  call system_clock(begin, rate)
  call cpu_time(begun)
  do ! hot: main
    do k = 1, 10 ! hot: steps
      call cpu_time(before)
      call smooth()
      call cpu_time(after)
      used = used + (after - before)
      call copy_back()
    end do
    call system_clock(now)
    if (real(now - begin, 8) / rate > seconds) exit
    if (len_trim(stop_file) > 0) then
      inquire (file=trim(stop_file), exist=told)
      if (told) exit
    end if
  end do
  call cpu_time(after)
  print '(a)', 'fortran: 0 differ'
  call get_environment_variable('DIAGNOSE_TRUTH', path)
  if (len_trim(path) > 0) then
    open (7, file=trim(path), position='append')
    write (7, '(a, f5.3)') 'truth cpu smooth ', used / (after - begun)
    close (7)
  else
    print '(a, f5.3)', 'truth cpu smooth ', used / (after - begun)
  end if
end program
