//! The transpose, in the plainest way that is fast enough to wait for.

use rayon::prelude::*;

/// Side of the square that one step of [`transpose`] moves, so that its reads and its writes both stay in cache.
const SQUARE: usize = 32;

/// The transpose of a row-major matrix.
///
/// # Panics
/// When `input` does not hold `rows * cols` elements.
pub fn transpose<T: Copy + Send + Sync>(input: &[T], rows: usize, cols: usize) -> Vec<T> {
    assert_eq!(Some(input.len()), rows.checked_mul(cols), "a {rows} x {cols} matrix");
    if input.is_empty() {
        return Vec::new();
    }
    let mut output = vec![input[0]; input.len()];
    // Each chunk is SQUARE rows of the output, which are SQUARE columns of the input.
    output
        .par_chunks_mut(rows * SQUARE)
        .enumerate()
        .for_each(|(chunk, output)| {
            let first_col = chunk * SQUARE;
            for first_row in (0..rows).step_by(SQUARE) {
                for (col, output_row) in (first_col..).zip(output.chunks_mut(rows)) {
                    for row in first_row..rows.min(first_row + SQUARE) {
                        output_row[row] = input[row * cols + col];
                    }
                }
            }
        });
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_goes_to_its_mirrored_place(rows in 0usize..80, cols in 0usize..80) {
            let input: Vec<usize> = (0..rows * cols).collect();
            let output = transpose(&input, rows, cols);
            prop_assert_eq!(output.len(), input.len());
            for row in 0..rows {
                for col in 0..cols {
                    prop_assert_eq!(output[col * rows + row], row * cols + col);
                }
            }
        }
    }
}
