! SPDX-License-Identifier: BSD-2-Clause
! Arrays, derived types, characters and internal procedures of Fortran, whose variables
! test_sweep.py compares.
module stock
  use iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  integer(int64) :: calls = 7
  integer(int16) :: table(4) = [1_int16, 20_int16, 300_int16, 4000_int16]
  type :: point
    integer(int32) :: x, y
  end type
  type :: item
    integer(int32) :: id
    character(len=8) :: name
    real(real64) :: price
    type(point) :: at
    logical :: sold
  end type
contains
  function add(a, b) result(total)
    integer, intent(in) :: a, b
    integer :: total
    total = a + b
    calls = calls + total
  end function

  function by_value(a, b, c) result(r)
    integer(int32), value :: a
    real(real64), value :: b
    integer(int64), value :: c
    real(real64) :: r
    r = a * b
    r = r + c
  end function

  function mix(seed, small, below, wide) result(h)
    integer(int64), intent(in) :: seed
    integer(int8), intent(in) :: small
    integer(int16), intent(in) :: below
    integer(int32), intent(in) :: wide
    integer(int64) :: h
    integer :: i
    h = ieor(seed, int(small, int64))
    do i = 1, 4
      h = h * 31 + wide
      h = ieor(h, int(below, int64))
    end do
  end function

  function scale(f, g, by) result(r)
    real(real64), intent(in) :: f
    real(real32), intent(in) :: g
    integer, intent(in) :: by
    real(real64) :: r, wide
    real(real32) :: narrow
    wide = f * by
    narrow = g / 2
    r = wide + narrow
  end function

  function letters(text, wanted) result(n)
    character(len=*), intent(in) :: text
    character, intent(in) :: wanted
    integer :: n, i
    n = 0
    do i = 1, len(text)
      if (text(i:i) == wanted) n = n + 1
    end do
  end function

  function total_of(of) result(total)
    integer, intent(in) :: of(:)
    integer :: total, i
    total = 0
    do i = 1, size(of)
      total = total + of(i) * i
    end do
  end function

  function fixed(of, n) result(best)
    integer, intent(in) :: n
    real(real64), intent(in) :: of(n)
    real(real64) :: best
    integer :: i
    best = of(1)
    do i = 2, n
      if (of(i) > best) best = of(i)
    end do
  end function

  subroutine swap(a, b)
    integer, intent(inout) :: a, b
    integer :: old
    old = a
    a = b
    b = old
  end subroutine

  subroutine fill(it, id, name)
    type(item), intent(out) :: it
    integer, intent(in) :: id
    character(len=*), intent(in) :: name
    it%id = id
    it%name = name
    it%price = id + 0.25d0
    it%at = point(id, -id)
    it%sold = mod(id, 2) == 1
  end subroutine

  function cost(it, n) result(r)
    type(item), intent(in) :: it
    integer, intent(in) :: n
    real(real64) :: r, each
    each = it%price * n
    r = each + it%at%y
    if (it%sold) r = r - 1
  end function

  function move(p, by) result(q)
    type(point), intent(in) :: p, by
    type(point) :: q
    q%x = p%x + by%x
    q%y = p%y - by%y
  end function

  function pick(of, i) result(v)
    integer, intent(in) :: of(3), i
    integer :: v, k
    k = mod(i, 3) + 1
    v = of(k) + 1
  end function

  function classify(n, strict) result(kind)
    integer, intent(in) :: n
    logical, intent(in) :: strict
    integer(int8) :: kind
    kind = 0
    if (n > 5) then
      kind = 2
    else if (strict) then
      kind = 1
    end if
  end function

  recursive function recurse(n, acc) result(r)
    integer, intent(in) :: n, acc
    integer :: r, next
    if (n == 0) then
      r = acc
    else
      next = acc * 2 + n
      r = recurse(n - 1, next) + 1
    end if
  end function

  function optional_one(a, b) result(r)
    integer, intent(in) :: a
    integer, intent(in), optional :: b
    integer :: r
    r = a
    if (present(b)) r = r + b
  end function

  function many(a, b, c, d, e, f, g, h) result(r)
    integer(int64), intent(in) :: a, b, c, d, e, f, g, h
    integer(int64) :: r, left, right
    left = a - b + c - d
    right = e - f + g - h
    r = left * right
  end function

  function angle(c, by) result(r)
    complex(real64), intent(in) :: c
    real(real64), intent(in) :: by
    real(real64) :: r, re, im
    re = real(c) * by
    im = aimag(c) * by
    r = re + im
  end function

  function outer(n) result(r)
    integer, intent(in) :: n
    integer :: r, base
    base = n * 10
    r = inner(1) + inner(2)
  contains
    function inner(x) result(y)
      integer, intent(in) :: x
      integer :: y
      y = x + base
      base = base + y
    end function
  end function

  function grid(m, rows, cols) result(s)
    integer, intent(in) :: rows, cols
    integer, intent(in) :: m(rows, cols)
    integer :: s, i, j
    s = 0
    do j = 1, cols
      do i = 1, rows
        s = s + m(i, j) * i
      end do
    end do
  end function

  subroutine allocated(n, s)
    integer, intent(in) :: n
    integer, intent(out) :: s
    integer, allocatable :: work(:)
    integer :: i
    allocate(work(n + 1))
    do i = 1, n + 1
      work(i) = i * i
    end do
    s = sum(work)
    deallocate(work)
  end subroutine
end module

program main
  use stock
  implicit none
  integer :: i, a, b, s, three(3)
  integer(int64) :: total
  type(item) :: it
  type(point) :: p
  real(real64) :: reals(2)
  total = 0
  do i = 0, 5
    call fill(it, i, "item")
    total = total + int(cost(it, i)) + add(i, -7) + int(by_value(i, 2.5d0, 9_int64))
    total = total + iand(mix(int(i, int64), 25_int8, int(-i, int16), 400000000), 255_int64)
    total = total + int(scale(i + 0.5d0, 2.5, i)) + letters("all that is shown", char(97 + i))
    reals = [1.5d0, dble(i)]
    total = total + total_of([i, 2, 3, i]) + int(fixed(reals, 2))
    p = move(point(i, 1), it%at)
    three = [1, i, 3]
    total = total + p%x + pick(three, i) + classify(i * 2, mod(i, 2) == 1) + recurse(i, 1)
    total = total + optional_one(i) + optional_one(i, 4) + table(mod(i, 4) + 1)
    total = total + many(int(i, int64), 2_int64, 3_int64, 4_int64, 5_int64, 6_int64, 7_int64, int(-i, int64))
    total = total + int(angle(cmplx(i, 2, real64), 1.5d0)) + outer(i)
    total = total + grid(reshape([1, 2, 3, 4, 5, i], [2, 3]), 2, 3)
    call allocated(i, s)
    a = i
    b = s
    call swap(a, b)
    total = total + a - b
  end do
  print *, total
end program
