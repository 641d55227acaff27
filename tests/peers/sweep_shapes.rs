// SPDX-License-Identifier: BSD-2-Clause
//! Generics, traits, statics and strings of Rust, whose variables tests/peers/test_sweep.py compares.
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(7);
static MOTTO: &str = "all that is shown was counted";
static TABLE: [u16; 4] = [1, 20, 300, 4000];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Nothing,
    Some(u32),
    Span { from: i64, to: i64 },
}

#[derive(Clone, Debug)]
struct Item<T> {
    id: u32,
    value: T,
    name: String,
}

trait Weigh {
    fn weigh(&self, unit: f64) -> f64;
    #[inline(never)]
    fn heavier(&self, than: f64) -> bool {
        let own = self.weigh(1.5);
        own > than
    }
}

impl<T: Copy + Into<f64>> Weigh for Item<T> {
    #[inline(never)]
    fn weigh(&self, unit: f64) -> f64 {
        let own: f64 = self.value.into();
        own * unit + self.name.len() as f64
    }
}

impl<T: Clone + Debug> Item<T> {
    #[inline(never)]
    fn new(id: u32, value: T, name: &str) -> Self {
        let name = format!("{name}-{id}");
        Item { id, value, name }
    }
    #[inline(never)]
    fn pair(&self, other: &T) -> (T, T) {
        CALLS.fetch_add(1, Ordering::Relaxed);
        (self.value.clone(), other.clone())
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy>(of: &[T]) -> T {
    let mut best = of[0];
    for &one in of {
        if one > best {
            best = one;
        }
    }
    best
}

#[inline(never)]
fn letters(text: &str, wanted: char) -> usize {
    let mut n = 0;
    for c in text.chars() {
        if c == wanted {
            n += 1;
        }
    }
    n
}

#[inline(never)]
fn classify(n: i64, strict: bool) -> Kind {
    let kind = if n > 5 {
        Kind::Span { from: n, to: n * 2 }
    } else if strict {
        Kind::Some(n as u32)
    } else {
        Kind::Nothing
    };
    black_box(kind)
}

#[inline(never)]
fn width(kind: Kind) -> i64 {
    match kind {
        Kind::Nothing => 0,
        Kind::Some(n) => i64::from(n),
        Kind::Span { from, to } => to - from,
    }
}

#[inline(never)]
fn mix(seed: u64, small: u8, below: i16, wide: u32) -> u64 {
    let mut h = seed ^ u64::from(small);
    for i in 0..4 {
        h = h.wrapping_mul(0x100000001b3).wrapping_add(u64::from(wide));
        h ^= (below as u64) >> i;
    }
    h
}

#[inline(never)]
fn wide(a: u128, b: i128) -> u128 {
    let sum = a.wrapping_add(b as u128);
    black_box(sum) ^ 3
}

#[inline(never)]
fn first<'a, K: Ord + Debug, V>(of: &'a BTreeMap<K, V>, or: &'a V) -> &'a V {
    let found = of.values().next();
    found.unwrap_or(or)
}

#[inline(never)]
fn apply<F: Fn(i32) -> i32>(f: F, times: i32) -> i32 {
    let mut out = 0;
    for i in 0..times {
        out += f(i);
    }
    out
}

#[inline(never)]
fn dynamic(what: &dyn Weigh, unit: f64) -> f64 {
    let own = what.weigh(unit);
    own / 2.0
}

#[inline(never)]
fn checked(n: i32) -> Result<u16, String> {
    let found = TABLE.get(n as usize).copied();
    match found {
        Some(v) => Ok(v),
        None => Err(format!("no {n}")),
    }
}

#[inline(never)]
fn boxed(mut of: Box<[i32; 3]>, n: i32) -> i32 {
    of[1] += n;
    let sum: i32 = of.iter().sum();
    sum
}

#[inline(never)]
fn many(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i32) -> i64 {
    let left = a - b + c - d;
    let right = e - f + g - i64::from(h);
    left * right
}

fn main() {
    let mut sum = 0i64;
    let mut map = BTreeMap::new();
    for i in 0..6i32 {
        let item = Item::new(i as u32, f32::from(i as i16) + 0.25, "float");
        let other = Item::new(i as u32, i, "int");
        sum += item.weigh(2.0) as i64 + other.weigh(0.5) as i64;
        sum += i64::from(item.heavier(4.0)) + i64::from(other.heavier(9.0));
        sum += i64::from(other.pair(&3).1) + item.pair(&1.5).0 as i64 + i64::from(item.id);
        sum += i64::from(largest(&[i, 3, -4])) + largest(&[1.5, f64::from(i)]) as i64;
        sum += i64::from(largest(b"bytes")) + letters(MOTTO, (b'a' + i as u8) as char) as i64;
        sum += width(classify(i64::from(i) * 3, i & 1 == 1));
        sum += (mix(i as u64, 250, -(i as i16), 4_000_000_000) & 0xff) as i64;
        sum += (wide(i as u128, -5) & 0xff) as i64;
        map.insert(i, format!("value {i}"));
        sum += first(&map, &String::new()).len() as i64;
        sum += i64::from(apply(|k| k * i + 1, 3)) + i64::from(apply(|k| k - 1, 2));
        sum += dynamic(&item, 3.0) as i64 + dynamic(&other, 1.0) as i64;
        sum += checked(i).map_or(0, i64::from);
        sum += i64::from(boxed(Box::new([1, 2, i]), i));
        sum += many(i64::from(i), 2, 3, 4, 5, 6, 7, -i);
    }
    println!("{sum}");
}
