// SPDX-License-Identifier: BSD-2-Clause
//! The same in Rust.
mod shop {
    pub struct Order {
        pub id: u32,
        pub total: i64,
    }
    impl Order {
        #[inline(never)]
        pub fn add(&mut self, by: i64) -> i64 {
            self.total += by;
            self.total
        }
    }
    #[inline(never)]
    pub fn show(order: &Order, text: &str) -> usize {
        text.len() + order.id as usize
    }
}
fn main() {
    let mut order = shop::Order { id: 7, total: std::env::args().count() as i64 };
    order.add(5);
    std::process::exit(shop::show(&order, "abc") as i32 - 10);
}
