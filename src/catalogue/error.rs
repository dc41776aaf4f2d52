//! What a call of the catalogue can refuse.

/// Why a problem was not solved. Unless the device failed, nothing has run and nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// There is nothing to work on.
    #[error("{problem} of no elements: {what} holds none")]
    Empty {
        /// The call.
        problem: &'static str,
        /// Which argument.
        what: &'static str,
    },
    /// An argument does not have the length that another one asks for.
    #[error("{problem}: {what} holds {given} elements, {needed} are needed")]
    Length {
        /// The call.
        problem: &'static str,
        /// Which argument.
        what: &'static str,
        /// Its elements.
        given: usize,
        /// The elements it should have.
        needed: usize,
    },
    /// More than the kernels can count.
    #[error("{problem}: {given} {what}, at most {most} are possible")]
    TooMany {
        /// The call.
        problem: &'static str,
        /// Of what.
        what: &'static str,
        /// How many.
        given: usize,
        /// How many are possible.
        most: u64,
    },
    /// A number outside of its range.
    #[error("{problem}: {what} is {given}; {possible}")]
    Parameter {
        /// The call.
        problem: &'static str,
        /// Which parameter.
        what: &'static str,
        /// Its value.
        given: u64,
        /// What is possible, as a clause.
        possible: &'static str,
    },
    /// A size with the wrong number of numbers.
    #[error("{problem} has a size of {} numbers ({}), not of {given}", names.len(), names.join(" x "))]
    Size {
        /// The problem.
        problem: &'static str,
        /// What the numbers are.
        names: &'static [&'static str],
        /// How many came.
        given: usize,
    },
    /// Values that a step cannot take.
    #[error("`{step}` takes elements of type {element} from its own generator, or a vector of them where it takes one")]
    Values {
        /// The step's entry point.
        step: String,
        /// Its element type.
        element: &'static str,
    },
    /// A transpose.
    #[error(transparent)]
    Transpose(#[from] crate::transpose::TransposeError),
    /// A matrix product.
    #[error(transparent)]
    Matmul(#[from] super::matmul::MatmulError),
    /// The device.
    #[error(transparent)]
    Device(#[from] tile33_host::Error),
}

/// Refuses an empty argument.
pub(crate) fn not_empty(problem: &'static str, what: &'static str, len: usize) -> Result<(), CatalogueError> {
    if len == 0 {
        return Err(CatalogueError::Empty { problem, what });
    }
    Ok(())
}

/// Refuses an argument of another length than `needed`.
pub(crate) fn same_length(
    problem: &'static str,
    what: &'static str,
    given: usize,
    needed: usize,
) -> Result<(), CatalogueError> {
    if given != needed {
        return Err(CatalogueError::Length {
            problem,
            what,
            given,
            needed,
        });
    }
    Ok(())
}
