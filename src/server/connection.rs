//! Connections: how many, how large a request's head, how slow a client may be, and how they end.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutWriter;

/// How many connections are served at once. Others wait in the system's queue, where they cost nothing.
const MAX_CONNECTIONS: usize = 256;

/// How large a request's head may be, in bytes. Also what a connection buffers at most.
const MAX_HEAD: usize = 16 << 10;

/// How many headers a request may have.
const MAX_HEADERS: usize = 64;

/// How long a client may take for the head of a request, and how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a client may leave an answer unread.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// How long requests in flight may go on after the server was told to end: a little longer than a change
/// waits for the store's lock.
const GRACE: Duration = Duration::from_secs(15);

/// How long to wait when no connection can be accepted, for instance for lack of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves connections until `stop` ends, then lets requests in flight end, at most for [`GRACE`] or until
/// `hurry` ends.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
    hurry: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let (ending, end) = watch::channel(());
    {
        let accepting = accept_all(&listener, &router, &end, &graceful);
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }
    }
    drop((listener, ending));
    let finish = tokio::time::timeout(GRACE, graceful.shutdown());
    tokio::select! {
        result = finish => if result.is_err() {
            tracing::warn!("some requests did not end in time and were cut off");
        },
        () = hurry => {}
    }
}

async fn accept_all(
    listener: &TcpListener,
    router: &Router,
    end: &watch::Receiver<()>,
    graceful: &GracefulShutdown,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return; // It is never closed.
        };
        match listener.accept().await {
            Ok((stream, _)) => spawn(stream, slot, router.clone(), end.clone(), graceful),
            Err(error) => {
                tracing::warn!(cause = %error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn spawn(
    stream: TcpStream,
    slot: OwnedSemaphorePermit,
    router: Router,
    end: watch::Receiver<()>,
    graceful: &GracefulShutdown,
) {
    // Answers are small and written whole; waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let (reader, writer) = stream.into_split();
    let mut writer = TimeoutWriter::new(writer);
    writer.set_timeout(Some(WRITE_TIME));
    let stream = tokio::io::join(Requests::new(reader, end), Box::pin(writer));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A client that has said all it has to say still gets its answer.
        .half_close(true)
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let _slot = slot;
        // A client that breaks the protocol or goes away is its own affair.
        let _ = pin!(connection).await;
    });
}

/// What a client sends until the server is told to end. Nobody waits for the rest of a request that is half
/// said by then; one that is here is answered.
struct Requests {
    reader: OwnedReadHalf,
    /// Gone once it has come.
    end: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Requests {
    fn new(reader: OwnedReadHalf, mut end: watch::Receiver<()>) -> Requests {
        let end = async move {
            let _ = end.changed().await;
        };
        Requests {
            reader,
            end: Some(Box::pin(end)),
        }
    }
}

impl AsyncRead for Requests {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.reader).poll_read(context, buffer) {
            return Poll::Ready(read);
        }
        if let Some(end) = &mut self.end {
            ready!(end.as_mut().poll(context));
            self.end = None;
        }
        // Nothing was put into the buffer, which is what an end looks like.
        Poll::Ready(Ok(()))
    }
}
