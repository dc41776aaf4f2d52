//! Modules, kernels and launches.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::function::FunctionAttribute;
use cust::sys::cudaError_enum::CUDA_SUCCESS;
use cust::sys::{self, CUfunction_attribute_enum as FuncAttribute, CUjit_option_enum as JitOption};

use super::error::describe;
use super::{Cuda, During};
use crate::dims::LaunchConfig;
use crate::error::Error;
use crate::limits::SHARED_WITHOUT_OPT_IN;

/// A module loaded into a device's context.
#[derive(Debug)]
pub(crate) struct Module {
    // An Option so that Drop can enter the context first.
    inner: Option<cust::module::Module>,
    /// The dynamic shared memory that each kernel has been opted in for, in bytes.
    opted_in: Mutex<HashMap<String, u64>>,
    device: Arc<Cuda>,
}

/// A kernel of a module. The address stays good as long as the module is loaded.
#[derive(Debug)]
pub(crate) struct Kernel {
    function: sys::CUfunction,
    name: String,
    static_shared: u64,
    max_threads: u32,
    registers: u32,
    module: Arc<Module>,
}

// SAFETY: a CUfunction is a handle that the driver lets every thread use; `cust` says the same of its `Function`.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Module {
    pub(crate) fn load(device: &Arc<Cuda>, ptx: &str) -> Result<Self, Error> {
        device.enter()?;
        // PTX ends at the first NUL, for the driver as for us.
        let text = CString::new(ptx.split('\0').next().unwrap_or("")).expect("no NUL is left");
        let inner = cust::module::Module::from_ptx_cstr(&text, &[]).map_err(|error| Error::CudaLoad {
            message: describe(error),
            log: load_log(&text),
        })?;
        Ok(Self {
            inner: Some(inner),
            opted_in: Mutex::default(),
            device: Arc::clone(device),
        })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // As for memory: there is nobody to tell.
        let _ = self.device.enter();
        drop(self.inner.take());
    }
}

/// What the driver's compiler writes about PTX that it refuses. `cust` has no option for it.
fn load_log(text: &CString) -> String {
    const BYTES: usize = 16 * 1024;
    let mut log = vec![0u8; BYTES];
    let mut options = [
        JitOption::CU_JIT_ERROR_LOG_BUFFER,
        JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(BYTES)];
    let mut module = ptr::null_mut();
    // SAFETY: the text is NUL-terminated; option values are a buffer and its size, which is passed by value.
    let answer = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast::<c_char>().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if answer == CUDA_SUCCESS {
        // It worked the second time: nothing to report, and nothing to keep.
        // SAFETY: the module was just loaded, and nobody else has it.
        unsafe { sys::cuModuleUnload(module) };
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(BYTES);
    String::from_utf8_lossy(&log[..end]).trim_end().to_owned()
}

impl Kernel {
    pub(crate) fn find(module: &Arc<Module>, name: &str) -> Result<Self, Error> {
        module.device.enter()?;
        let inner = module.inner.as_ref().expect("only Drop takes the module away");
        let function = inner.get_function(name).during("finding the kernel")?;
        let attribute = |attribute| {
            function
                .get_attribute(attribute)
                .during("asking for the kernel's attributes")
                .map(i32::unsigned_abs)
        };
        Ok(Self {
            static_shared: u64::from(attribute(FunctionAttribute::SharedMemorySizeBytes)?),
            max_threads: attribute(FunctionAttribute::MaxThreadsPerBlock)?,
            registers: attribute(FunctionAttribute::NumRegisters)?,
            function: function.to_raw(),
            name: name.to_owned(),
            module: Arc::clone(module),
        })
    }

    /// Bytes that the compiled kernel has in static shared memory.
    pub(crate) fn static_shared(&self) -> u64 {
        self.static_shared
    }

    /// Most threads of a block, given the registers that the kernel needs.
    pub(crate) fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Registers of a thread.
    pub(crate) fn registers(&self) -> u32 {
        self.registers
    }

    /// Enqueues a launch.
    ///
    /// # Safety
    /// `values` are the kernel's parameters, each as long as the kernel's, and what the kernel does with them is sound.
    pub(crate) unsafe fn enqueue(&self, config: &LaunchConfig, values: &[&[u8]]) -> Result<(), Error> {
        let device = &self.module.device;
        device.enter()?;
        let dynamic = config.dynamic_shared.get();
        self.opt_in(dynamic)?;
        let mut parameters: Vec<*mut c_void> = values.iter().map(|value| value.as_ptr().cast_mut().cast()).collect();
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (config.grid.0, config.block.0);
        // SAFETY: the function is of a loaded module in the current context; the driver only reads the parameters, before
        // it returns; the rest is the caller's promise.
        let answer = unsafe {
            sys::cuLaunchKernel(
                self.function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                dynamic as u32,
                device.stream.as_inner(),
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        device.accept(answer, "launching the kernel")
    }

    /// Asks for more than 48 KiB of shared memory where the launch needs it. The limit belongs to the kernel, so it is only
    /// ever raised: another thread's launch may be about to rely on it.
    fn opt_in(&self, dynamic: u64) -> Result<(), Error> {
        if self.static_shared + dynamic <= SHARED_WITHOUT_OPT_IN {
            return Ok(());
        }
        let mut opted_in = self.module.opted_in.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = opted_in.entry(self.name.clone()).or_default();
        if dynamic > *so_far {
            // SAFETY: the function is of a loaded module in the current context.
            let answer = unsafe {
                sys::cuFuncSetAttribute(
                    self.function,
                    FuncAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    dynamic as i32,
                )
            };
            self.module
                .device
                .accept(answer, "opting in to more than 48 KiB of shared memory")?;
            *so_far = dynamic;
        }
        Ok(())
    }
}
