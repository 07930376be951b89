//! Work that is shared by two threads.

use std::panic::resume_unwind;
use std::thread;

/// Fewer things are not worth a thread.
const FEW: usize = 8;

/// What `work` makes of each half of `items`: of the second one on a thread of its own.
pub(crate) fn of<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> [R; 2] {
    let middle = if items.len() < FEW {
        items.len()
    } else {
        items.len() / 2
    };
    let (here, there) = items.split_at(middle);
    if there.is_empty() {
        return [work(here), work(there)];
    }
    let work = &work;
    thread::scope(|scope| {
        let there = scope.spawn(move || work(there));
        let here = work(here);
        match there.join() {
            Ok(there) => [here, there],
            Err(panic) => resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_are_all_in_order_however_many() {
        for many in [0, 1, 7, 8, 9, 1001] {
            let items: Vec<_> = (0..many).collect();
            let halves = of(&items, <[i32]>::to_vec);
            assert_eq!(halves.concat(), items);
        }
    }
}
