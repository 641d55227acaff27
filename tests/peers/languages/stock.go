// SPDX-License-Identifier: BSD-2-Clause

// Slices, maps, interfaces, generics and closures of Go, whose variables test_sweep.py compares.
package main

import (
	"fmt"
	"strings"
)

type Kind uint8

type Point struct{ X, Y int32 }

type Item struct {
	ID    uint32
	Name  string
	Price float64
	Tags  []string
	At    Point
}

type Sizer interface{ Size(unit int) int }

type Number interface{ ~int | ~int32 | ~float64 }

var calls int64
var motto = "count what happened"
var table = [4]uint16{1, 20, 300, 4000}

//go:noinline
func (i *Item) Size(unit int) int {
	n := len(i.Name) * unit
	for _, tag := range i.Tags {
		n += len(tag)
	}
	calls++
	return n
}

//go:noinline
func (p Point) Size(unit int) int {
	x := int(p.X) * unit
	y := int(p.Y) * unit
	return x*x + y*y
}

//go:noinline
func add(a, b int) int {
	sum := a + b
	calls += int64(sum)
	return sum
}

//go:noinline
func mix(seed uint64, small uint8, below int16, wide uint32) uint64 {
	h := seed ^ uint64(small)
	for i := 0; i < 4; i++ {
		h = h*0x100000001b3 + uint64(wide)
		h ^= uint64(below) >> uint(i)
	}
	return h
}

//go:noinline
func scale(f float64, g float32, by int) float64 {
	wide := f * float64(by)
	narrow := g / 2
	return wide + float64(narrow)
}

//go:noinline
func letters(text string, wanted byte) int {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] == wanted {
			n++
		}
	}
	return n
}

//go:noinline
func sum(of []int) int {
	total := 0
	for i, v := range of {
		total += v * i
	}
	return total
}

//go:noinline
func largest[T Number](of []T) T {
	best := of[0]
	for _, v := range of {
		if v > best {
			best = v
		}
	}
	return best
}

//go:noinline
func count(of map[string]int, key string) int {
	n, ok := of[key]
	if !ok {
		n = -1
	}
	of[key] = n + 1
	return n
}

//go:noinline
func dynamic(s Sizer, unit int) int {
	own := s.Size(unit)
	return own / 2
}

//go:noinline
func apply(f func(int) int, times int) int {
	out := 0
	for i := 0; i < times; i++ {
		out += f(i)
	}
	return out
}

//go:noinline
func divide(a, b int) (q int, err error) {
	if b == 0 {
		err = fmt.Errorf("%d by zero", a)
		return
	}
	q = a / b
	return
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int, l int32) int {
	left := a - b + c - d + e
	right := f - g + h - i + j
	return left*right + k - int(l)
}

//go:noinline
func move(p Point, by Point) Point {
	p.X += by.X
	p.Y -= by.Y
	return p
}

//go:noinline
func pick(of [3]int16, i int) int16 {
	v := of[i%3]
	return v + 1
}

//go:noinline
func classify(n int, strict bool) Kind {
	kind := Kind(0)
	switch {
	case n > 5:
		kind = 2
	case strict:
		kind = 1
	}
	return kind
}

//go:noinline
func newItem(id uint32, name string, price float64) *Item {
	item := &Item{ID: id, Name: name, Price: price}
	item.Tags = append(item.Tags, "new", name)
	item.At = Point{int32(id), -int32(id)}
	return item
}

//go:noinline
func join(parts []string, with string) string {
	out := strings.Builder{}
	for i, p := range parts {
		if i > 0 {
			out.WriteString(with)
		}
		out.WriteString(p)
	}
	return out.String()
}

//go:noinline
func angle(c complex128, by float64) float64 {
	re := real(c) * by
	im := imag(c) * by
	return re + im
}

//go:noinline
func bits(a int8, b uint16, c int64, ok bool) int64 {
	if ok {
		c += int64(a)
	}
	d := c << (b & 3)
	return d ^ int64(b)
}

//go:noinline
func swap(a, b *int) {
	old := *a
	*a = *b
	*b = old
}

//go:noinline
func recurse(n int, acc int) int {
	if n == 0 {
		return acc
	}
	next := acc*2 + n
	return recurse(n-1, next)
}

//go:noinline
func deferred(n int) (out int) {
	defer func() { out += n }()
	out = n * 3
	return out
}

func main() {
	total := 0
	counts := map[string]int{}
	for i := 0; i < 6; i++ {
		item := newItem(uint32(i), fmt.Sprintf("item %d", i), float64(i)+0.25)
		total += item.Size(2) + dynamic(item, 3) + dynamic(Point{int32(i), 2}, 2)
		total += Point{int32(i), 3}.Size(4) + add(i, -7)
		total += int(mix(uint64(i), 250, -int16(i), 4000000000) & 0xff)
		total += int(scale(float64(i)+0.5, 2.5, i)) + letters(motto, byte('a'+i))
		total += sum([]int{i, 2, 3, i}) + largest([]int{i, 3, -4}) + int(largest([]float64{1.5, float64(i)}))
		total += count(counts, []string{"a", "b", "c"}[i%3])
		total += apply(func(k int) int { return k*i + int(calls) }, 3)
		q, err := divide(100, i)
		if err == nil {
			total += q
		}
		total += many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11*i, -int32(i))
		total += int(move(Point{int32(i), 1}, item.At).X) + int(pick([3]int16{1, int16(i), 3}, i))
		total += int(classify(i*2, i&1 == 1)) + len(join(item.Tags, ", "))
		total += int(angle(complex(float64(i), 2), 1.5)) + int(bits(int8(-i), uint16(i), 1<<40, i&1 == 0))
		a, b := i, total
		swap(&a, &b)
		total += a - b + recurse(i, 1) + deferred(i) + int(table[i%4])
	}
	fmt.Println(total)
}
