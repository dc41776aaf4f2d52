//! Matrix products: transposed operands, leading dimensions, factors, empty matrices; and what is refused.

mod common;

use common::devices;
use half::{bf16, f16};
use proptest::prelude::*;
use tile33::catalogue::data::Sample;
use tile33::catalogue::matmul::{Element, Judged, MatmulError, MatmulKernel, Variant, trial};
use tile33::host::Arch;
use tile33::host::reference::first_outside;
use tile33::host::reference::matmul::{Matrix, matmul as reference};
use tile33::layout::occupancy::Card;
use tile33::prelude::*;
use tile33::{Error, Kernels};

/// What is wrong with a kernel's product of generated matrices.
fn wrong<T: Judged>(kernels: &Kernels, variant: Variant, gemm: &Gemm<T::Sum>, seed: u64) -> Option<String> {
    let mut trial = trial::<T>(kernels, variant, gemm, seed).unwrap();
    let launches = trial.launch().unwrap();
    let finding = launches.iter().find_map(|launched| launched.finding());
    let problem = finding.or_else(|| trial.difference().unwrap())?;
    Some(format!("{} of {}, {gemm:?}: {problem}", variant.name(), T::NAME))
}

#[derive(Clone, Debug)]
struct Options {
    sizes: Sizes,
    transposed: (bool, bool),
    gaps: [usize; 3],
    alpha: f32,
    beta: f32,
}

impl Options {
    fn gemm<S: tile33::catalogue::matmul::Scalar + From<f32>>(&self) -> Gemm<S> {
        let mut gemm = Gemm::new(self.sizes).alpha(self.alpha.into()).beta(self.beta.into());
        if self.transposed.0 {
            gemm = gemm.transposed_a();
        }
        if self.transposed.1 {
            gemm = gemm.transposed_b();
        }
        let [a, b, c] = self.gaps;
        gemm.leading_a(gemm.stored_a().leading + a)
            .leading_b(gemm.stored_b().leading + b)
            .leading_c(gemm.stored_c().leading + c)
    }
}

fn options() -> impl Strategy<Value = Options> {
    let factor = || prop_oneof![Just(0.0f32), Just(1.0), Just(-0.5), -2f32..2.0];
    let gap = || prop_oneof![Just(0usize), 1usize..9];
    (
        (1usize..140, 1usize..140, 0usize..40),
        any::<(bool, bool)>(),
        [gap(), gap(), gap()],
        factor(),
        factor(),
    )
        .prop_map(|((m, n, k), transposed, gaps, alpha, beta)| Options {
            sizes: Sizes { m, n, k },
            transposed,
            gaps,
            alpha,
            beta,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    // What lies between the rows of A and B is NaN, and what lies between those of C is compared with what it was.
    #[test]
    fn every_kernel_takes_every_option(which: prop::sample::Index, wide: bool, options in options(), seed: u64) {
        let kernels = Kernels::new(&Device::emulator());
        let variant = *which.get(&Variant::ALL);
        let wrong = match (variant, wide) {
            (Variant::Tensor, false) => wrong::<f16>(&kernels, variant, &options.gemm(), seed),
            (Variant::Tensor, true) => wrong::<bf16>(&kernels, variant, &options.gemm(), seed),
            (_, false) => wrong::<f32>(&kernels, variant, &options.gemm(), seed),
            (_, true) => wrong::<f64>(&kernels, variant, &options.gemm(), seed),
        };
        prop_assert_eq!(wrong, None);
    }
}

/// Where vectors of 16 bytes go along k, along the other direction, and where there are none.
#[test]
fn every_kernel_multiplies_transposed_operands_with_aligned_and_with_odd_rows() {
    let kernels = Kernels::new(&Device::emulator());
    for transposed in [(false, false), (true, false), (false, true), (true, true)] {
        for gaps in [[0; 3], [4, 8, 4], [1, 3, 5]] {
            let options = Options {
                sizes: Sizes { m: 132, n: 64, k: 20 },
                transposed,
                gaps,
                alpha: 1.0,
                beta: 0.0,
            };
            for variant in Variant::of::<f32>() {
                assert_eq!(wrong::<f32>(&kernels, variant, &options.gemm(), 5), None);
                assert_eq!(wrong::<f64>(&kernels, variant, &options.gemm(), 5), None);
            }
            for variant in Variant::of::<f16>() {
                assert_eq!(wrong::<f16>(&kernels, variant, &options.gemm(), 5), None);
                assert_eq!(wrong::<bf16>(&kernels, variant, &options.gemm(), 5), None);
            }
        }
    }
}

/// Requests of the first launch to shared memory, and what they cost beyond the ideal.
fn excess<T: Judged>(variant: Variant, gemm: &Gemm<T::Sum>) -> (u64, u64) {
    let kernels = Kernels::new(&Device::emulator());
    let launches = trial::<T>(&kernels, variant, gemm, 1).unwrap().launch().unwrap();
    let counters = launches[0].counters().unwrap();
    let kinds = [counters.shared_load, counters.shared_store];
    kinds.iter().fold((0, 0), |(requests, excess), kind| {
        (requests + kind.requests, excess + kind.wavefronts - kind.ideal)
    })
}

#[test]
fn only_the_plain_tile_has_bank_conflicts_and_only_of_a_transposed_operand() {
    let plain = Sizes { m: 128, n: 128, k: 64 };
    for transposed in [(false, false), (true, false), (false, true), (true, true)] {
        let options = Options {
            sizes: plain,
            transposed,
            gaps: [0; 3],
            alpha: 1.0,
            beta: 0.0,
        };
        for variant in Variant::of::<f32>().skip(1) {
            let turned = u64::from(transposed.0) + u64::from(transposed.1);
            let has_conflicts = variant == Variant::Tiled && turned > 0;
            // 16 blocks of 32 warps store 2 tiles of each operand, a column at 31 wavefronts too many.
            let expected = if has_conflicts { turned * 16 * 32 * 2 * 31 } else { 0 };
            let (requests, excess) = excess::<f32>(variant, &options.gemm());
            assert!(requests > 0);
            assert_eq!(excess, expected, "{variant:?} {transposed:?}");
        }
        let (requests, excess) = excess::<f16>(Variant::Tensor, &options.gemm());
        assert!(requests > 0);
        assert_eq!(excess, 0, "{transposed:?}");
    }
}

#[test]
fn all_kernels_of_a_type_give_the_same_bits_on_every_device() {
    let sizes = Sizes { m: 70, n: 45, k: 83 };
    let gemm = Gemm::new(sizes).alpha(1.25f32).beta(-0.75);
    let (a, b) = (f32::samples(1, 70 * 83), f32::samples(2, 83 * 45));
    let c = f32::samples(3, 70 * 45);
    let mut results = Vec::new();
    for device in devices() {
        let kernels = Kernels::new(&device);
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        for variant in Variant::of::<f32>() {
            let mut c = device.upload(&c).unwrap();
            let kernel = MatmulKernel::new(&kernels, variant).unwrap();
            kernel.run(&gemm, &a, &b, &mut c).unwrap();
            results.push(c.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>());
        }
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_call_multiplies_matrices_of_every_size() {
    for device in devices() {
        for (m, n, k) in [(1, 1, 1), (3, 500, 20), (31, 33, 7), (500, 520, 3)] {
            let sizes = Sizes { m, n, k };
            let (a, b) = (f64::samples(1, m * k), f64::samples(2, k * n));
            let mut c = device.uninit(m * n).unwrap();
            device
                .matmul(&device.upload(&a).unwrap(), &device.upload(&b).unwrap(), &mut c, sizes)
                .unwrap();
            let none = Matrix::new(&[], n);
            let expected = reference(sizes, 1.0, Matrix::new(&a, k), Matrix::new(&b, n), 0.0, none);
            assert_eq!(first_outside(&c.to_vec().unwrap(), &expected), None, "{m} x {n} x {k}");
        }
    }
}

const TWO: Sizes = Sizes { m: 2, n: 2, k: 2 };

/// C after a product of A = [[1, 2], [3, 4]] and B = [[5, 6], [7, 8]].
fn after(device: &Device, gemm: Gemm<f32>, c: [f32; 4]) -> Vec<f32> {
    let a = device.upload(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let b = device.upload(&[5.0f32, 6.0, 7.0, 8.0]).unwrap();
    let mut c = device.upload(&c).unwrap();
    device.gemm(&gemm, &a, &b, &mut c).unwrap();
    c.to_vec().unwrap()
}

#[test]
fn a_beta_of_zero_replaces_even_what_is_no_number() {
    for device in devices() {
        let c = [f32::NAN, f32::INFINITY, -f32::NAN, 1.0];
        assert_eq!(after(&device, Gemm::new(TWO), c), [19.0, 22.0, 43.0, 50.0]);
        let none = Gemm::new(Sizes { k: 0, ..TWO });
        assert_eq!(after(&device, none, c), [0.0; 4]);
    }
}

#[test]
fn without_a_product_c_is_multiplied_by_beta_alone() {
    for device in devices() {
        let c = [1.0, 2.0, 3.0, 4.0];
        let none = Gemm::new(Sizes { k: 0, ..TWO }).beta(0.5);
        assert_eq!(after(&device, none, c), [0.5, 1.0, 1.5, 2.0]);
        assert_eq!(after(&device, none.alpha(f32::INFINITY), c), [0.5, 1.0, 1.5, 2.0]);
        assert_eq!(after(&device, none.beta(1.0), c), c);
        assert_eq!(
            after(&device, Gemm::new(TWO).alpha(0.0).beta(2.0), c),
            [2.0, 4.0, 6.0, 8.0]
        );
    }
}

#[test]
fn an_alpha_of_zero_leaves_a_and_b_unread() {
    for device in devices() {
        let nan = device.upload(&[f64::NAN; 4]).unwrap();
        let mut c = device.upload(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        device
            .gemm(&Gemm::new(TWO).alpha(0.0).beta(1.5), &nan, &nan, &mut c)
            .unwrap();
        assert_eq!(c.to_vec().unwrap(), [1.5, 3.0, 4.5, 6.0]);
    }
}

#[test]
fn matrices_without_rows_or_columns_are_multiplied_by_doing_nothing() {
    for device in devices() {
        let nothing = device.upload::<f32>(&[]).unwrap();
        let some = device.upload(&[1.0f32; 6]).unwrap();
        let mut c = device.upload(&[7.0f32; 4]).unwrap();
        device
            .matmul(&nothing, &some, &mut c, Sizes { m: 0, n: 3, k: 2 })
            .unwrap();
        device
            .matmul(&some, &nothing, &mut c, Sizes { m: 3, n: 0, k: 2 })
            .unwrap();
        assert_eq!(c.to_vec().unwrap(), [7.0; 4]);
        device
            .matmul(&nothing, &nothing, &mut c, Sizes { m: 2, n: 2, k: 0 })
            .unwrap();
        assert_eq!(c.to_vec().unwrap(), [0.0; 4]);
    }
}

#[test]
fn a_buffer_may_be_both_operands_and_longer_than_a_matrix() {
    for device in devices() {
        let a = device.upload(&[1.0f64, 2.0, 3.0, 4.0, f64::NAN]).unwrap();
        let mut c = device.upload(&[0.0; 6]).unwrap();
        device.matmul(&a, &a, &mut c, TWO).unwrap();
        assert_eq!(c.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0, 0.0, 0.0]);
    }
}

/// The error of a product that is refused, which leaves C as it was.
fn refused<T: Element<Sum = T> + From<f32> + PartialEq + std::fmt::Debug>(gemm: &Gemm<T>, lens: [usize; 3]) -> String {
    let device = Device::emulator();
    let [a, b, c] = lens.map(|len| vec![T::from(9.0); len]);
    let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let mut buffer = device.upload(&c).unwrap();
    let error = device.gemm(gemm, &a, &b, &mut buffer).unwrap_err();
    assert_eq!(buffer.to_vec().unwrap(), c);
    error.to_string()
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let gemm = Gemm::<f32>::new(Sizes { m: 2, n: 3, k: 4 });
    assert_eq!(
        refused(&gemm, [7, 12, 6]),
        "matmul: the buffer of A holds 7 elements, 8 are needed: 2 rows of 4 in memory, 4 apart"
    );
    assert_eq!(
        refused(&gemm.transposed_b().leading_b(5), [8, 13, 6]),
        "matmul: the buffer of B holds 13 elements, 14 are needed: 3 rows of 4 in memory, 5 apart"
    );
    assert_eq!(
        refused(&gemm.leading_c(4), [8, 12, 6]),
        "matmul: the buffer of C holds 6 elements, 7 are needed: 2 rows of 3 in memory, 4 apart"
    );
    assert_eq!(
        refused(&gemm.transposed_a().leading_a(1), [100; 3]),
        "matmul: the leading dimension of A is 1; its rows hold 2 elements in memory, so it is at least 2, and at most \
         4294967295"
    );
    let empty = Gemm::<f32>::new(Sizes { m: 0, n: 0, k: 0 });
    assert!(
        refused(&empty.leading_c(0), [0; 3])
            .contains("of C is 0; its rows hold 0 elements in memory, so it is at least 1")
    );
}

#[test]
fn sizes_and_pitches_that_the_kernels_do_not_count_to_are_refused() {
    let large = 1 << 31;
    for (what, sizes) in [
        ("m", Sizes { m: large, n: 1, k: 1 }),
        (
            "n",
            Sizes {
                m: 1,
                n: usize::MAX,
                k: 1,
            },
        ),
        (
            "k",
            Sizes {
                m: usize::MAX,
                n: 0,
                k: large,
            },
        ),
    ] {
        let error = refused(&Gemm::<f64>::new(sizes), [10; 3]);
        let what = if what == "k" { "m" } else { what };
        assert!(
            error.starts_with(&format!("matmul: {what} is ")) && error.ends_with("at most 2147483647 is possible"),
            "{error}"
        );
    }
    let wide = Gemm::<f64>::new(TWO).leading_b(1 << 32);
    assert!(refused(&wide, [10; 3]).contains("of B is 4294967296"));
    // The largest that is counted to: no overflow on the way to the answer that the buffer is too short.
    let most = (1 << 31) - 1;
    let largest = Gemm::<f64>::new(Sizes {
        m: most,
        n: most,
        k: most,
    })
    .leading_a(u32::MAX as usize);
    assert!(
        refused(&largest, [10; 3]).contains("9223372028264841217 are needed"),
        "{}",
        refused(&largest, [10; 3])
    );
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let (here, there) = (Device::emulator(), Device::emulator());
    let a = here.upload(&[1.0f32; 4]).unwrap();
    let b = there.upload(&[1.0f32; 4]).unwrap();
    let mut c = here.upload(&[3.0f32; 4]).unwrap();
    let error = here.matmul(&a, &b, &mut c, TWO).unwrap_err();
    assert!(
        matches!(error, MatmulError::Device(Error::ForeignBuffer { .. })),
        "{error}"
    );
    assert_eq!(c.to_vec().unwrap(), [3.0; 4]);
}

#[test]
fn halves_are_summed_up_in_single_precision() {
    for device in devices() {
        if device.limits().arch < Arch::new(8, 0) {
            continue;
        }
        // 1 + 2^-10 times 2^-12 more than 1: neither the products nor the sum are numbers of the type.
        let (m, n, k) = (20, 9, 64);
        let a = vec![f16::from_f32(1.0 + 1.0 / 1024.0); m * k];
        let b = vec![f16::from_f32(1.0 - 1.0 / 2048.0); k * n];
        let mut c = device.uninit::<f32>(m * n).unwrap();
        device
            .matmul(
                &device.upload(&a).unwrap(),
                &device.upload(&b).unwrap(),
                &mut c,
                Sizes { m, n, k },
            )
            .unwrap();
        let product = (1.0 + 1.0 / 1024.0) * (1.0 - 1.0 / 2048.0);
        assert_eq!(c.to_vec().unwrap(), vec![64.0 * product; m * n]);
    }
}

#[test]
fn halves_are_refused_by_a_card_without_the_instructions() {
    let turing = Card::find("T4").unwrap();
    let device = Device::emulator_with(tile33::sim::Options {
        card: turing,
        ..Default::default()
    });
    let ones = device.upload(&[bf16::ONE; 4]).unwrap();
    let mut c = device.upload(&[5.0f32; 4]).unwrap();
    let error = device.matmul(&ones, &ones, &mut c, TWO).unwrap_err();
    assert!(matches!(error, MatmulError::Architecture { .. }), "{error}");
    assert!(
        error.to_string().contains("sm_80") && error.to_string().contains("sm_75"),
        "{error}"
    );
    assert_eq!(c.to_vec().unwrap(), [5.0; 4]);
}

#[test]
fn a_kernel_for_other_elements_is_refused() {
    let kernels = Kernels::new(&Device::emulator());
    let error = MatmulKernel::<f16>::new(&kernels, Variant::Naive).unwrap_err();
    assert_eq!(
        error.to_string(),
        "matmul: there is no kernel `naive` for elements of type f16"
    );
    assert!(MatmulKernel::<f64>::new(&kernels, Variant::Tensor).is_err());
}
