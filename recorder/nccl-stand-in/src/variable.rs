//! Variables by which ranks know where everything is.

/// Names the hub's address for the ranks.
pub const HUB_VARIABLE: &str = "HANGSCOPE_STAND_IN_HUB";
/// Names the stand-in for CUDA's driver.
pub const CUDA_VARIABLE: &str = "HANGSCOPE_STAND_IN_CUDA";
/// The newest version of the profiler interface: 4, 5 or 6, which is usual.
pub const VERSION_VARIABLE: &str = "HANGSCOPE_STAND_IN_PROFILER";
