//! Work that is shared by two threads.

use std::panic::resume_unwind;
use std::thread;

/// Fewer things are not worth a thread.
const FEW: usize = 8;

/// What `work` makes of each half of `items`: of the second one on a thread of its own.
pub(crate) fn of<T: Sync, R: Send + Default>(
    items: &[T],
    work: impl Fn(&[T]) -> R + Sync,
) -> [R; 2] {
    let mut made = [R::default(), R::default()];
    into(items, &mut made, |half, made| *made = work(half));
    made
}

/// The same into what is there already: memory that is used again costs nothing.
pub(crate) fn into<T: Sync, R: Send>(
    items: &[T],
    [first, second]: &mut [R; 2],
    work: impl Fn(&[T], &mut R) + Sync,
) {
    let middle = if items.len() < FEW {
        items.len()
    } else {
        items.len() / 2
    };
    let (here, there) = items.split_at(middle);
    if there.is_empty() {
        work(here, first);
        work(there, second);
        return;
    }
    let work = &work;
    thread::scope(|scope| {
        let there = scope.spawn(move || work(there, second));
        work(here, first);
        there.join().unwrap_or_else(|panic| resume_unwind(panic));
    });
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
