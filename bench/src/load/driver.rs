//! The event loop: one thread for all connections.
//!
//! Each round of the loop asks the system once which connections have something, reads each of them once, and sends each its next request: for
//! one request of a workload one read, one write, one look at the clock and a part of a wait. Where there is one connection in a closed loop
//! the read itself waits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};

use super::connection::Connection;
use super::workload::{Operation, Timing};
use super::{Load, Outcome};

/// A server that does not answer for so long after the end is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes read at once: a page of 1 MB takes a few reads, and the caches keep it.
const ROOM: usize = 256 << 10;
const EVENTS: usize = 128;

pub struct Driver<'a, 'b> {
    server: SocketAddr,
    loads: &'a mut [Load<'b>],
    outcomes: Vec<Outcome>,
    lines: Vec<Line>,
    poll: OwnedFd,
    /// Lines of open loops, by when their next operation is due.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    measured: Instant,
    end: Instant,
    /// Operations that no line has begun yet.
    ahead: u64,
    /// Lines that have an operation on its way or ahead of them.
    active: usize,
    room: Vec<u8>,
}

/// A connection and what it is about.
struct Line {
    connection: Connection,
    load: usize,
    operation: Operation,
    /// Between two operations of an open loop.
    pause: Option<Duration>,
    /// Whether an operation is on its way.
    is_busy: bool,
    /// Whether this connection has answered before. Servers may close it after each answer.
    is_used: bool,
}

impl<'a, 'b> Driver<'a, 'b> {
    pub fn new(server: SocketAddr, loads: &'a mut [Load<'b>], timing: Timing) -> io::Result<Driver<'a, 'b>> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let start = Instant::now();
        let outcomes = loads.iter().map(|_| Outcome::new(timing.time)).collect();
        let mut driver = Driver {
            server,
            loads,
            outcomes,
            lines: Vec::new(),
            poll,
            due: BinaryHeap::new(),
            measured: start + timing.warm_up,
            end: start + timing.warm_up + timing.time,
            ahead: timing.operations,
            active: 0,
            room: vec![0; ROOM],
        };
        driver.connect(start)?;
        Ok(driver)
    }

    fn connect(&mut self, start: Instant) -> io::Result<()> {
        let waits = self.waits();
        for (number, load) in self.loads.iter_mut().enumerate() {
            let pause = load.rate.map(|rate| Duration::from_secs_f64(load.connections as f64 / rate));
            for place in 0..load.connections {
                let due = start + pause.unwrap_or_default().mul_f64(place as f64 / load.connections as f64);
                let connection = Connection::open(self.server, waits)?;
                let operation = load.workload.next(due);
                register(&self.poll, &connection, self.lines.len())?;
                self.lines.push(Line {
                    connection,
                    load: number,
                    operation,
                    pause,
                    is_busy: false,
                    is_used: false,
                });
            }
        }
        Ok(())
    }

    /// Whether reading waits by itself: there is nothing else to wait for.
    fn waits(&self) -> bool {
        matches!(&*self.loads, [load] if load.connections == 1 && load.rate.is_none())
    }

    pub fn run(mut self) -> io::Result<Vec<Outcome>> {
        self.active = self.lines.len();
        self.ahead = self.ahead.saturating_sub(self.active as u64);
        for line in 0..self.lines.len() {
            if self.lines[line].pause.is_some() {
                self.due.push(Reverse((self.lines[line].operation.due, line)));
            } else {
                self.send(line);
            }
        }
        if self.waits() {
            while self.active > 0 && !self.is_too_late(Instant::now()) {
                self.receive(0);
            }
        } else {
            self.wait_for_all()?;
        }
        Ok(self.outcomes)
    }

    fn wait_for_all(&mut self) -> io::Result<()> {
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        while self.active > 0 {
            let now = Instant::now();
            if self.is_too_late(now) {
                break;
            }
            self.send_due(now);
            let next = self.due.peek().map_or(now + Duration::from_secs(1), |Reverse((due, _))| *due);
            let wait = Timespec::try_from(next.saturating_duration_since(now)).expect("a short time");
            match epoll::wait(&self.poll, &mut events[..], Some(&wait)) {
                Ok((ready, _)) => {
                    for event in ready {
                        self.receive(usize::try_from(event.data.u64()).expect("64 bits"));
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the server has kept everybody waiting for too long.
    fn is_too_late(&mut self, now: Instant) -> bool {
        let is_late = now > self.end + PATIENCE;
        if is_late {
            self.outcomes.iter_mut().for_each(|outcome| outcome.is_stalled = true);
        }
        is_late
    }

    fn send_due(&mut self, now: Instant) {
        while let Some(Reverse((due, line))) =
            self.due.peek().copied().filter(|Reverse((due, _))| *due <= now)
        {
            debug_assert_eq!(due, self.lines[line].operation.due);
            self.due.pop();
            self.send(line);
        }
    }

    fn send(&mut self, line: usize) {
        let Line { connection, load, operation, is_busy, .. } = &mut self.lines[line];
        *is_busy = true;
        let request = self.loads[*load].workload.request(operation);
        if connection.send(request).is_err() {
            self.fail(line);
        }
    }

    fn receive(&mut self, line: usize) {
        let Line { connection, is_busy, .. } = &mut self.lines[line];
        if !*is_busy {
            // The server closes a connection that nobody waits for.
            return;
        }
        let received = connection.send_rest().and_then(|()| connection.receive(&mut self.room));
        match received {
            Ok(None) => {}
            Ok(Some(status)) => self.answered(line, (200..300).contains(&status)),
            Err(_) => self.fail(line),
        }
    }

    fn answered(&mut self, line: usize, is_right: bool) {
        let Line { load, operation, is_used, .. } = &mut self.lines[line];
        *is_used = true;
        let further = self.loads[*load].workload.further(*operation).filter(|_| is_right);
        if let Some(further) = further {
            *operation = further;
            return self.send(line);
        }
        let now = Instant::now();
        if operation.due >= self.measured {
            self.outcomes[*load].record(now.saturating_duration_since(operation.due), is_right);
        }
        self.go_on(line, now);
    }

    /// Begins the next operation of a line, now or when it is due; or ends it.
    fn go_on(&mut self, line: usize, now: Instant) {
        let Line { load, operation, pause, is_busy, .. } = &mut self.lines[line];
        *is_busy = false;
        let due = pause.map_or(now, |pause| operation.due + pause);
        if due >= self.end || self.ahead == 0 {
            self.active -= 1;
            return;
        }
        self.ahead -= 1;
        *operation = self.loads[*load].workload.next(due);
        if due > now {
            self.due.push(Reverse((due, line)));
        } else {
            self.send(line);
        }
    }

    /// The connection is of no use any longer. One that answered before and says nothing now was closed by the server, and the request goes
    /// out again on another; otherwise the operation has failed.
    fn fail(&mut self, line: usize) {
        let waits = self.waits();
        let again = Connection::open(self.server, waits)
            .and_then(|connection| register(&self.poll, &connection, line).map(|()| connection));
        let Line { connection, load, operation, is_used, is_busy, .. } = &mut self.lines[line];
        let was_closed = std::mem::take(is_used) && connection.is_silent();
        if !was_closed && operation.due >= self.measured {
            self.outcomes[*load].errors += 1;
        }
        match again {
            Ok(another) => {
                *connection = another;
                if was_closed { self.send(line) } else { self.go_on(line, Instant::now()) }
            }
            Err(_) => {
                *is_busy = false;
                self.outcomes[*load].is_stalled = true;
                self.active -= 1;
            }
        }
    }
}

fn register(poll: &OwnedFd, connection: &Connection, line: usize) -> io::Result<()> {
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
    Ok(epoll::add(poll, connection.stream(), EventData::new_u64(line as u64), flags)?)
}
