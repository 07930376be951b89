//! The threads that relay: a connection belongs to one of them for good, and shares with those of others
//! only what goes on record. One thread alone would be where many busy connections wait, while other
//! processors have time: with two, a machine of two processors passes a tenth more calls over 64.

use super::Proxy;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::{io, mem};
use tokio::runtime::{self, LocalOptions};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Threads, at most: what goes on record is written by one of them at a time.
const MOST: usize = 4;

/// A connection that was accepted.
pub(super) struct Accepted {
    pub number: u32,
    pub client: TcpStream,
    pub peer: SocketAddr,
    /// Is dropped when the connection is over.
    pub open: mpsc::Sender<()>,
}

/// They end, and with them all connections, when this is dropped.
pub(super) struct Workers {
    queues: Vec<UnboundedSender<Accepted>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(super) fn start(proxy: &Arc<Proxy>) -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, |count| count.get().min(MOST));
        let mut workers = Self {
            queues: Vec::new(),
            threads: Vec::new(),
        };
        for _ in 0..count {
            let (queue, accepted) = mpsc::unbounded_channel();
            let proxy = Arc::clone(proxy);
            let (tell, started) = sync_channel(1);
            let thread = thread::Builder::new().name("relay".into());
            let thread = thread.spawn(move || {
                let mut runtime = runtime::Builder::new_current_thread();
                // A local runtime has to be built on the thread that runs it.
                match runtime.enable_all().build_local(LocalOptions::default()) {
                    Ok(runtime) => {
                        drop(tell.send(Ok(())));
                        runtime.block_on(work(proxy, accepted));
                        // A name that is being looked up may take its time.
                        runtime.shutdown_background();
                    }
                    Err(error) => drop(tell.send(Err(error))),
                }
            })?;
            started.recv().map_err(io::Error::other)??;
            workers.queues.push(queue);
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Has a connection relayed.
    pub(super) fn relay(&self, accepted: Accepted) {
        let turn = accepted.number as usize % self.queues.len();
        // It is gone if its thread panicked.
        drop(self.queues[turn].send(accepted));
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queues.clear();
        for thread in mem::take(&mut self.threads) {
            drop(thread.join());
        }
    }
}

async fn work(proxy: Arc<Proxy>, mut accepted: UnboundedReceiver<Accepted>) {
    while let Some(Accepted {
        number,
        client,
        peer,
        open,
    }) = accepted.recv().await
    {
        let proxy = Arc::clone(&proxy);
        tokio::task::spawn_local(async move {
            // What cannot be waited for is closed.
            if let Ok(client) = client.try_into() {
                proxy.relay(number, client, peer).await;
            }
            drop(open);
        });
    }
}
