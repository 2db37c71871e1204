//! `vak serve`: starts the admin API and its page, or prints what gets somebody in.

use super::{GOOD, Out, STRONG, Status};
use crate::disk;
use crate::server::{self, DEFAULT_ADDRESS, PublicUrl, Server, Settings, Token};
use anyhow::Context as _;
use clap::Args;
use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;

/// Serve the admin API and its page
///
/// Lists what still tells a model to call a retired tool, takes it away reversibly and puts it back, over
/// HTTP. Every request needs the token that is in `server.token` of the shared root; deleting that file
/// makes a new one. Ends on SIGINT or SIGTERM, after the requests in flight.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 has the system choose one
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = DEFAULT_ADDRESS)]
    bind: SocketAddr,

    /// Allow an address that other machines can reach
    ///
    /// Whoever reaches it and has the token can remove and restore plugins. The token travels unencrypted
    /// unless a reverse proxy adds TLS.
    #[arg(long)]
    allow_remote: bool,

    /// The URL that a reverse proxy makes the server known by
    ///
    /// Requests for other hosts, or from the pages of other sites, are refused.
    #[arg(long, value_name = "URL", value_parser = PublicUrl::parse)]
    public_url: Option<PublicUrl>,

    /// Print the token and exit
    #[arg(long, group = "print")]
    print_token: bool,

    /// Print a link that opens the page once, within five minutes, and exit
    ///
    /// For a server that runs at the same `--bind` and `--public-url`.
    #[arg(long, group = "print")]
    print_link: bool,

    /// Print the OpenAPI document of the API and exit
    #[arg(long, group = "print")]
    print_openapi: bool,
}

pub(super) fn run(args: &ServeArgs, out: &mut Out) -> anyhow::Result<Status> {
    if args.print_openapi {
        write!(out, "{}", server::openapi_document())?;
        return Ok(Status::Clean);
    }
    let roots = super::roots()?;
    if args.print_token {
        let token = Token::load_or_create(&roots.shared)?;
        writeln!(out, "{}", token.as_str())?;
    } else if args.print_link {
        if args.bind.port() == 0 && args.public_url.is_none() {
            anyhow::bail!(
                "a link needs the port that the server listens on\n\
                 hint: give the address that `vak serve` printed when it started as `--bind`"
            );
        }
        let link = server::link_to(&roots, args.bind, args.public_url.clone())?;
        writeln!(out, "{link}")?;
    } else {
        serve(
            args,
            Settings {
                roots,
                address: args.bind,
                allow_remote: args.allow_remote,
                public_url: args.public_url.clone(),
            },
            out,
        )?;
    }
    Ok(Status::Clean)
}

fn serve(args: &ServeArgs, settings: Settings, out: &mut Out) -> anyhow::Result<()> {
    log_to_stderr();
    let server = Server::bind(settings)?;
    if args.allow_remote && !args.bind.ip().is_loopback() {
        tracing::warn!(
            "other machines can reach this server; the token travels unencrypted unless a reverse proxy adds TLS"
        );
    }
    writeln!(out, "{STRONG}{}{STRONG:#}", server.url())?;
    if let Some(public) = server.public_url() {
        writeln!(out, "{STRONG}{public}{STRONG:#}")?;
    }
    if std::io::stdout().is_terminal() {
        // Where standard output is kept, a link in it would let its readers in.
        writeln!(
            out,
            "Open the page with {GOOD}{}{GOOD:#} (once, within five minutes)",
            server.link()?
        )?;
    }
    out.flush().context("failed to write to stdout")?;
    server.run();
    Ok(())
}

fn log_to_stderr() {
    let colour = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .with_target(false)
        .init();
    // The command line names the lock's path here; a log does not.
    disk::set_wait_hook(|_| {
        tracing::info!("waiting for another `vak` process to finish its change");
    });
}
