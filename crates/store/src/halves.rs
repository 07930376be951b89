//! Work that is shared by two threads; where no second one can be had, it is done by one.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Fewer things are not worth a thread.
const FEW: usize = 8;

/// What `work` makes of each half of `items`: of the second one on a thread of its own.
pub fn of<T: Sync, R: Send + Default>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> [R; 2] {
    let mut made = [R::default(), R::default()];
    into(items, &mut made, |half, made| *made = work(half));
    made
}

/// The same into what is there already: memory that is used again costs nothing.
pub fn into<T: Sync, R: Send>(items: &[T], made: &mut [R; 2], work: impl Fn(&[T], &mut R) + Sync) {
    with(Builder::new(), items, made, &work);
}

fn with<T: Sync, R: Send>(
    thread: Builder,
    items: &[T],
    [first, second]: &mut [R; 2],
    work: &(impl Fn(&[T], &mut R) + Sync),
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
    let lent = &mut *second;
    let is_shared = thread::scope(|scope| {
        let other = thread.spawn_scoped(scope, move || work(there, lent));
        work(here, first);
        let joined = other.map(thread::ScopedJoinHandle::join);
        let ended = joined.map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
        ended.is_ok()
    });
    if !is_shared {
        work(there, second);
    }
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

    #[test]
    fn without_a_second_thread_both_halves_are_made_here() {
        // No machine has the memory for its stack.
        let thread = Builder::new().stack_size(1 << 60);
        let items: Vec<_> = (0..1001).collect();
        let here = thread::current().id();
        let mut made = [None, None];
        with(thread, &items, &mut made, &|half: &[i32], made| {
            *made = Some((half.to_vec(), thread::current().id()));
        });
        let [(first, by), (second, also_by)] = made.map(Option::unwrap);
        assert_eq!([first, second].concat(), items);
        assert_eq!([by, also_by], [here, here]);
    }
}
