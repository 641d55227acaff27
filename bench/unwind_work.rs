// SPDX-License-Identifier: BSD-2-Clause
// Four threads with recursion, formatting, a B-tree and sorting, for as many seconds as are given.
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

#[inline(never)]
fn work(n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n {
        sum = sum.wrapping_mul(31).wrapping_add(std::hint::black_box(i));
    }
    sum
}

#[inline(never)]
fn recurse(depth: u32) -> u64 {
    let sum = work(200);
    if depth == 0 {
        sum
    } else {
        recurse(depth - 1).wrapping_add(sum)
    }
}

#[inline(never)]
fn index() -> u64 {
    let mut rows = BTreeMap::new();
    for i in 0..200u64 {
        rows.insert(format!("k{}", i * 7919 % 200), i);
    }
    rows.values().sum()
}

#[inline(never)]
fn sort() -> u64 {
    let mut values: Vec<u64> = (0..500).map(|i| i * 7919 % 501).collect();
    values.sort_by(|a, b| b.cmp(a));
    values[0]
}

fn serve(end: Instant) -> u64 {
    let mut sum = 0;
    while Instant::now() < end {
        sum += recurse(20) & 1;
        sum += index() + sort();
    }
    sum
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(1.0, |s| s.parse().unwrap());
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(move || serve(end))).collect();
    let mut sum = serve(end);
    for thread in threads {
        sum += thread.join().unwrap();
    }
    std::hint::black_box(sum);
}
