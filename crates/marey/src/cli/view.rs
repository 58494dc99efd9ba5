//! `marey view`.

use std::path::PathBuf;

use clap::Args;

/// `marey view`
#[derive(Debug, Args)]
#[command(
    about = "Explore a run in the browser",
    long_about = "Explore a run in the browser.\n\n\
        Serves the viewer on this machine, for you alone: it listens on 127.0.0.1, and the address that is printed \
        works once, in one browser. It ends with ^C.\n\n\
        Without a run, it lists those beneath this directory and those recorded or looked at lately; each opens from there, alone or beside another.\n\n\
        With a second run, both are laid side by side: the first is the base, as in `marey diff`, and it is the one that \
        all views show; the view Compare shows both, aligned on time or on the iterations of their main loops.\n\n\
        On a cluster, start it where the run is and look at it from where you sit: \
        `ssh -L 8080:localhost:8080 login marey view run.marey --port 8080 --no-open`, then open the address that it prints.",
    after_long_help = "EXAMPLES\n  \
        marey view run.marey\n  \
        marey view                                    whichever run is chosen from a list\n  \
        marey view before.marey after.marey           both runs side by side\n  \
        marey view run.marey --allow-run              with a button that records it again, by other rules\n  \
        marey view run.marey --port 8080 --no-open    behind ssh -L 8080:localhost:8080\n  \
        marey view run.marey --socket view.sock       behind ssh -L 8080:/path/to/view.sock, where ports are shared\n  \
        marey view run.marey --prefix /marey/         behind a proxy that passes that on\n\n\
        EXIT STATUS\n  \
        0 when it was stopped, 1 if the run cannot be read, the port is taken or nobody can be told the address, 2 if there \
        is no run"
)]
pub(crate) struct ViewArgs {
    /// The run, a directory or a packed file; without it, those beneath this directory and those looked at lately are
    /// listed
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,

    /// A run to compare it with
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<PathBuf>,

    /// Port of 127.0.0.1 to listen on; 0 = any that is free
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "socket")]
    pub(crate) port: u16,

    /// Listen on a socket file instead, which only you can open
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,

    /// What the path of the page begins with [default: a word made by chance, one for each port, kept in
    /// ~/.local/state/marey/places]; behind a proxy that passes all paths on, `/`
    #[arg(long, value_name = "PATH", value_parser = prefix)]
    pub(crate) prefix: Option<String>,

    /// Give the page a button that records RUN again, with the rules chosen in Next run
    ///
    /// Whoever has the page can have the recorded command run again, as you, in its directory, and nothing else; the page
    /// shows it and asks first. The new run comes to lie beside RUN.
    #[arg(long, requires = "run")]
    pub(crate) allow_run: bool,

    /// Do not start a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// `/`, or a path between two of them.
fn prefix(text: &str) -> Result<String, String> {
    let inner = text.trim_matches('/');
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./~".contains(letter);
    if !inner.chars().all(is_plain)
        || inner.split('/').any(|part| part == "." || part == "..")
        || inner.contains("//")
    {
        return Err("a path such as /marey/ of letters, digits and -_.~".to_owned());
    }
    Ok(if inner.is_empty() { "/".to_owned() } else { format!("/{inner}/") })
}
