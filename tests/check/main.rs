//! Launch files and `tile33 check`: what is run, what is printed, and what is said of a launch file that is wrong.

mod buffers;
mod command;
mod errors;
mod folder;
