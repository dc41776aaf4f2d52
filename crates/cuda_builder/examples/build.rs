//! Builds the PTX of a kernel crate: `build FOLDER ARCH OUTPUT`.
fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(arch), Some(output)) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("build FOLDER ARCH OUTPUT");
        std::process::exit(2);
    };
    match tile33_cuda_builder::CudaBuilder::new(folder)
        .arch(arch)
        .copy_to(output)
        .build()
    {
        Ok(built) => println!("{built:#?}"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
