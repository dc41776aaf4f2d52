//! One module per subcommand.

pub(crate) mod advise;
pub(crate) mod check;
pub(crate) mod explain;
mod output;
mod request;
pub(crate) mod run;
pub(crate) mod wavefronts;
