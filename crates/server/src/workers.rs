//! The threads that serve connections: one for each processor, each with an event loop of its own.
//!
//! A connection stays on the thread that it was given to, so its requests never move between processors and wake nobody else
//! (docs/decisions/0010).

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::connection::{self, Entry};
use crate::mailbox::Mailbox;
use crate::service::Service;
use crate::tls::Tls;

/// An expression may lie within itself hundreds of times, and is parsed and evaluated on the stack. Only what is used costs memory.
const STACK_BYTES: usize = 16 << 20;

/// A new connection on its way to a worker. How many there are is bounded by the registry.
type Arrival = (TcpStream, Entry);

/// All workers.
pub(crate) struct Workers {
    senders: Vec<UnboundedSender<Arrival>>,
    threads: Vec<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts so many workers; 0 takes one for each processor.
    pub(crate) fn start(count: usize, service: &Arc<Service>, tls: Option<&Tls>) -> io::Result<Workers> {
        let count = match count {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let mut workers = Workers { senders: Vec::new(), threads: Vec::new(), next: 0 };
        for _ in 0..count {
            let (sender, receiver) = unbounded_channel();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
            let (service, tls) = (service.clone(), tls.cloned());
            let thread =
                std::thread::Builder::new().name("monotable-http".to_owned()).stack_size(STACK_BYTES);
            workers.threads.push(thread.spawn(move || runtime.block_on(work(receiver, service, tls)))?);
            workers.senders.push(sender);
        }
        Ok(workers)
    }

    /// Gives a connection to the next worker in turn.
    pub(crate) fn give(&mut self, stream: TcpStream, entry: Entry) {
        self.next = (self.next + 1) % self.senders.len().max(1);
        if let Some(sender) = self.senders.get(self.next) {
            // A worker is gone only when the server stops, and then so is the connection.
            let _ = sender.send((stream, entry));
        }
    }

    /// Ends the workers; connections that are still open are closed.
    pub(crate) fn stop(self) {
        drop(self.senders);
        for thread in self.threads {
            // A panic of a worker has been reported by then.
            let _ = thread.join();
        }
    }
}

async fn work(mut arrivals: UnboundedReceiver<Arrival>, service: Arc<Service>, tls: Option<Tls>) {
    let mailbox = Mailbox::open();
    let deliveries = tokio::spawn(async move { mailbox.deliver().await });
    while let Some((stream, entry)) = arrivals.recv().await {
        match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => drop(tokio::spawn(connection::serve(stream, service.clone(), tls.clone(), entry))),
            Err(error) => tracing::warn!(%error, "cannot watch a connection"),
        }
    }
    deliveries.abort();
}
