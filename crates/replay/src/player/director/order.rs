//! In which order the notifications of each subscription came. Between subscriptions, and where none
//! is named, as in the legacy era, the order is chance.

use super::notices::Notice;
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// Subscriptions whose order is compared: a server could make up as many names as it likes.
const MOST: usize = 1024;

/// The place of a notification among those of its subscription on its side, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    subscription: RequestId,
    nth: u64,
}

impl Place {
    pub fn subscription(&self) -> &RequestId {
        &self.subscription
    }
}

#[derive(Debug, Default)]
pub(super) struct Orders {
    by: HashMap<RequestId, Order>,
}

/// The notifications of a subscription, then and now.
#[derive(Debug, Default)]
struct Order {
    told: [u64; 2],
    /// The last one on each side that has a counterpart.
    paired: [u64; 2],
    /// The first recorded one that changed places with another.
    disordered: Option<Seq>,
}

impl Orders {
    /// A notification of this subscription came on a side.
    pub fn place(&mut self, subscription: &RequestId, side: Side) -> Option<Place> {
        if self.by.len() >= MOST && !self.by.contains_key(subscription) {
            return None;
        }
        let order = self.by.entry(subscription.clone()).or_default();
        let told = &mut order.told[usize::from(side == Side::Right)];
        *told += 1;
        Some(Place {
            subscription: subscription.clone(),
            nth: *told,
        })
    }

    /// A recorded one and a live one stand for each other. One of them is the latest of its side: they
    /// are out of order if a later one of the other side has its counterpart already.
    pub fn pair(&mut self, recorded: &Notice, live: &Notice) {
        let (Some(then), Some(now)) = (&recorded.place, &live.place) else {
            return;
        };
        let order = self.by.get_mut(&then.subscription);
        let Some(order) = order.filter(|_| then.subscription == now.subscription) else {
            return;
        };
        let nth = [then.nth, now.nth];
        if order.paired[0] > nth[0] || order.paired[1] > nth[1] {
            order.disordered = order.disordered.or(recorded.seq);
        }
        for (paired, nth) in order.paired.iter_mut().zip(nth) {
            *paired = nth.max(*paired);
        }
    }

    /// The subscriptions in which the order is another one, by the frames where that begins.
    pub fn disordered(&self) -> BTreeMap<Seq, &RequestId> {
        let all = self.by.iter();
        all.filter_map(|(id, order)| Some((order.disordered?, id)))
            .collect()
    }
}
