//! Standard output, as the commands see it.

use anstream::AutoStream;
use std::io::{self, BufWriter, Write};

/// Buffered standard output that drops colour where none is wanted, and that a reader may close early.
///
/// A closed pipe (`vak … | head -1`) ends the output but not the command: what is written after it is
/// dropped, so that the command finishes its work and its exit code stays true.
pub(crate) struct Out {
    inner: BufWriter<AutoStream<io::Stdout>>,
    closed: bool,
}

impl Out {
    pub(crate) fn stdout() -> Out {
        let stdout = io::stdout();
        let choice = AutoStream::choice(&stdout);
        Out {
            inner: BufWriter::new(AutoStream::new(stdout, choice)),
            closed: false,
        }
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, if_closed: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(if_closed)
            }
            other => other,
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.inner.write(bytes);
        self.unless_closed(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.flush();
        self.unless_closed(result, ())
    }
}
