//! Starts, accepts and stops.
//!
//! Path of a server: [`Server::bind`] (checks the settings, takes the port, starts workers) -> [`Server::run`] (accepts until told to
//! stop) -> drain (requests that have begun are answered) -> end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::body::Budget;
use crate::connection::Registry;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::origin::Door;
use crate::service::Service;
use crate::settings::Settings;
use crate::signature::Verifier;
use crate::workers::Workers;

/// How long to wait after the system refused a connection, for want of file handles mostly.
const PAUSE_AFTER_REFUSAL: Duration = Duration::from_millis(20);
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Anybody could use it.
    #[error(
        "{0} can be reached from other machines, and no credentials are configured: anybody could read and change the data"
    )]
    Open(SocketAddr),
    /// The port is taken, or not ours to take.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The system has no threads or event queues left.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// A server that has taken its port.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    registry: Arc<Registry>,
    workers: Workers,
    stop: Arc<Notify>,
}

/// Tells a server to stop, from anywhere.
#[derive(Clone)]
pub struct Stopper {
    stop: Arc<Notify>,
}

impl Stopper {
    /// Stops accepting connections; requests that have begun are answered.
    pub fn stop(&self) {
        self.stop.notify_one();
    }
}

impl Server {
    /// Takes the port and gets ready to serve. Clients can connect from here on; they are answered once [`Server::run`] is called.
    pub fn bind(engine: Engine, settings: Settings) -> Result<Server, StartError> {
        if settings.credentials.is_empty() && !settings.address.ip().is_loopback() {
            return Err(StartError::Open(settings.address));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            listen(settings.address)
                .map_err(|source| StartError::Bind { address: settings.address, source })?
        };
        let address = listener.local_addr()?;
        let limits = Limits { connections: handles(settings.limits.connections), ..settings.limits };
        let service = Arc::new(Service {
            engine,
            verifier: Verifier { credentials: settings.credentials, region: settings.region },
            door: Door::new(address.ip(), &settings.allowed_hosts, &settings.cors_origins),
            budget: Budget::new(limits.bodies_bytes),
            limits,
            metrics: Metrics::default(),
            more_metrics: settings.more_metrics,
            pages: settings.pages,
            dynamodb: settings.dynamodb,
        });
        let workers = Workers::start(settings.workers, &service, settings.tls.as_ref())?;
        let (registry, stop) = (Registry::new(), Arc::new(Notify::new()));
        Ok(Server { runtime, listener, address, service, registry, workers, stop })
    }

    /// Where it listens; with the port that the system chose where it was asked to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle to stop it with.
    pub fn stopper(&self) -> Stopper {
        Stopper { stop: self.stop.clone() }
    }

    /// Serves until it is told to stop, then until the requests that have begun are answered.
    pub fn run(self) {
        let Server { runtime, listener, service, registry, mut workers, stop, .. } = self;
        runtime.block_on(async {
            let accepting = accept(listener, &service, &registry, &mut workers);
            let sweeping = sweep(&service, &registry);
            tokio::select! {
                () = accepting => {}
                () = sweeping => {}
                () = stop.notified() => {}
            }
            tracing::info!(connections = registry.count(), "stopping");
            registry.drain(service.limits.drain).await;
        });
        workers.stop();
    }

    /// As [`Server::run`]; SIGTERM and SIGINT also stop it.
    pub fn run_until_signal(self) -> io::Result<()> {
        let stopper = self.stopper();
        self.runtime.block_on(async { watch_signals(stopper) })?;
        self.run();
        Ok(())
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4() } else { tokio::net::TcpSocket::new_v6() }?;
    // A restarted server takes its port although connections of the former are still fading away.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(unix)]
fn watch_signals(stopper: Stopper) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stopper.stop();
        // Whoever asks twice does not want to wait.
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        std::process::exit(130);
    });
    Ok(())
}

#[cfg(not(unix))]
fn watch_signals(stopper: Stopper) -> io::Result<()> {
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        stopper.stop();
    });
    Ok(())
}

/// Accepts connections and hands them to the workers, for ever.
async fn accept(listener: TcpListener, service: &Service, registry: &Arc<Registry>, workers: &mut Workers) {
    loop {
        while registry.count() >= service.limits.connections {
            registry.make_room();
            registry.closed().await;
        }
        match listener.accept().await.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                service.metrics.connected();
                workers.give(stream, registry.enter());
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                registry.make_room();
                tokio::time::sleep(PAUSE_AFTER_REFUSAL).await;
            }
        }
    }
}

/// Looks at the connections now and then, for ever.
async fn sweep(service: &Service, registry: &Registry) {
    let mut ticks = tokio::time::interval(service.limits.sweep());
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        registry.sweep(&service.limits);
        service.metrics.open_connections(registry.count());
    }
}

/// File handles that the engine and the process itself need.
#[cfg(unix)]
const OWN_HANDLES: u64 = 256;

/// Asks the system for as many file handles as the connections need. Returns how many connections there can be.
#[cfg(unix)]
fn handles(connections: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = connections as u64 + OWN_HANDLES;
    let limit = getrlimit(Resource::Nofile);
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let current = limit.current.unwrap_or(u64::MAX);
    if current < raised {
        let raise = Rlimit { current: Some(raised), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raise).is_err() {
            return fitting(connections, current);
        }
    }
    fitting(connections, current.max(raised))
}

#[cfg(unix)]
fn fitting(connections: usize, handles: u64) -> usize {
    let room = handles.saturating_sub(OWN_HANDLES).max(handles / 2);
    connections.min(usize::try_from(room).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn handles(connections: usize) -> usize {
    connections
}
