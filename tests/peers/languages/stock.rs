// SPDX-License-Identifier: BSD-2-Clause
//! Options, slices, traits, iterators and errors of Rust, whose variables test_sweep.py compares.
use std::collections::HashSet;
use std::fmt::{self, Display};
use std::hint::black_box;
use std::rc::Rc;

static RATES: [f32; 3] = [0.5, 1.25, 3.0];
static LABEL: &str = "stock";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Grade {
    Low = 1,
    Middle = 5,
    High = 200,
}

#[derive(Clone, Debug)]
enum Event {
    Sold { id: u32, pieces: u16 },
    Bought(i64, f64),
    Renamed(String),
    Closed,
}

#[derive(Clone, Debug)]
struct Lot {
    id: u32,
    grade: Grade,
    pieces: u16,
    name: String,
    history: Vec<Event>,
}

struct Wrapped<T>(T, u8);

impl<T: Display> Display for Wrapped<T> {
    #[inline(never)]
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let depth = self.1;
        write!(f, "[{}:{}]", self.0, depth)
    }
}

impl Lot {
    #[inline(never)]
    fn new(id: u32, name: &str, grade: Grade) -> Lot {
        let pieces = (id * 3) as u16;
        Lot { id, grade, pieces, name: name.to_string(), history: Vec::new() }
    }
    #[inline(never)]
    fn record(&mut self, event: Event) -> usize {
        let before = self.history.len();
        self.history.push(event);
        before + 1
    }
    #[inline(never)]
    fn value(&self, rate: f32) -> f32 {
        let base = f32::from(self.pieces) * rate;
        base + self.grade as u8 as f32
    }
}

#[inline(never)]
fn grade_of(n: u32) -> Grade {
    let g = match n % 3 {
        0 => Grade::Low,
        1 => Grade::Middle,
        _ => Grade::High,
    };
    black_box(g)
}

#[inline(never)]
fn weight(event: &Event, factor: i64) -> i64 {
    match event {
        Event::Sold { id, pieces } => i64::from(*id) + i64::from(*pieces) * factor,
        Event::Bought(n, price) => n * factor + *price as i64,
        Event::Renamed(name) => name.len() as i64,
        Event::Closed => -factor,
    }
}

#[inline(never)]
fn find<'a>(lots: &'a [Lot], id: u32) -> Option<&'a Lot> {
    let found = lots.iter().find(|l| l.id == id);
    found
}

#[inline(never)]
fn title(of: Option<&str>, n: usize) -> usize {
    let len = of.map_or(0, str::len);
    len + n
}

#[inline(never)]
fn twice(n: Option<u32>) -> Option<u64> {
    let out = n.map(|v| u64::from(v) * 2);
    black_box(out)
}

#[inline(never)]
fn pair(bytes: [u8; 2], word: [u16; 2]) -> u32 {
    let low = u32::from(bytes[0]) | u32::from(bytes[1]) << 8;
    low + u32::from(word[1])
}

#[inline(never)]
fn tuple(t: (i32, u8), s: (f64, f64)) -> f64 {
    let a = f64::from(t.0) * s.0;
    a + f64::from(t.1) * s.1
}

#[inline(never)]
fn parse(text: &str, base: u32) -> Result<i32, std::num::ParseIntError> {
    let n = i32::from_str_radix(text, base)?;
    Ok(n + 1)
}

#[inline(never)]
fn letter(c: char, up: bool) -> char {
    let out = if up { c.to_ascii_uppercase() } else { c };
    black_box(out)
}

#[inline(never)]
fn collect(n: u16) -> Vec<u16> {
    let mut out = Vec::with_capacity(4);
    for i in 0..n {
        out.push(i * i);
    }
    out
}

#[inline(never)]
fn distinct(of: &[u8]) -> usize {
    let set: HashSet<u8> = of.iter().copied().collect();
    set.len()
}

#[inline(never)]
fn shared(of: Rc<String>, also: &Rc<String>) -> usize {
    let n = Rc::strong_count(&of);
    n + also.len()
}

#[inline(never)]
fn rotate(of: &mut [i64; 4], by: usize) -> i64 {
    of.rotate_left(by % 4);
    let first = of[0];
    first - of[3]
}

#[inline(never)]
fn steps(mut n: u64) -> u32 {
    let mut count = 0u32;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { n * 3 + 1 };
        count += 1;
    }
    count
}

#[inline(never)]
fn fold(of: &[i32], f: &dyn Fn(i64, i32) -> i64) -> i64 {
    let mut acc = 1i64;
    for &one in of {
        acc = f(acc, one);
    }
    acc
}

#[inline(never)]
fn split(text: &str) -> (&str, &str) {
    let at = text.find(' ').unwrap_or(text.len());
    text.split_at(at)
}

#[inline(never)]
fn lots_of(a: u8, b: i8, c: u16, d: i16, e: u32, f: i32, g: u64, h: i64, i: f32, j: f64) -> i64 {
    let small = i64::from(a) + i64::from(b) + i64::from(c) + i64::from(d);
    let large = i64::from(e) + i64::from(f) + g as i64 + h;
    small * large + (f64::from(i) * j) as i64
}

#[inline(never)]
fn clamp<T: PartialOrd + Copy>(v: T, low: T, high: T) -> T {
    if v < low {
        return low;
    }
    if v > high {
        high
    } else {
        v
    }
}

fn main() {
    let mut lots = Vec::new();
    let mut sum = 0i64;
    for i in 0..6u32 {
        let mut lot = Lot::new(i, &format!("{LABEL} {i}"), grade_of(i));
        let event = match i % 4 {
            0 => Event::Sold { id: i, pieces: 7 },
            1 => Event::Bought(-5, 2.5),
            2 => Event::Renamed("other".to_string()),
            _ => Event::Closed,
        };
        sum += weight(&event, 3 + i64::from(i));
        sum += lot.record(event) as i64 + lot.value(RATES[i as usize % 3]) as i64;
        lots.push(lot);
        sum += find(&lots, i / 2).map_or(0, |l| l.name.len() as i64);
        sum += title(if i & 1 == 1 { Some("odd") } else { None }, i as usize) as i64;
        sum += twice(if i > 2 { Some(i) } else { None }).unwrap_or(9) as i64;
        sum += i64::from(pair([i as u8, 3], [4, i as u16])) + tuple((-3, i as u8), (1.5, 2.0)) as i64;
        sum += i64::from(parse(["12", "7f", "x"][i as usize % 3], 16).unwrap_or(-1));
        sum += letter((b'a' + i as u8) as char, i & 1 == 0) as i64 + collect(i as u16).len() as i64;
        sum += distinct(&[1, i as u8, 3, 1]) as i64;
        let text = Rc::new(format!("{}", Wrapped(i, 2)));
        sum += shared(text.clone(), &text) as i64 + rotate(&mut [1, 2, 3, i64::from(i)], i as usize);
        sum += i64::from(steps(u64::from(i) + 3)) + fold(&[1, 2, i as i32], &|a, b| a * 2 + i64::from(b));
        sum += split("two words").1.len() as i64;
        sum += lots_of(i as u8, -1, 2, -3, 4, -5, 6, -7, 1.5, f64::from(i));
        sum += i64::from(clamp(i as i32, 1, 4)) + clamp(f64::from(i), 0.5, 2.5) as i64;
    }
    println!("{sum}");
}
