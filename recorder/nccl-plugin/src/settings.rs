//! What the environment asks of the plugin alone.

use std::ffi::OsString;

/// Names the library of CUDA's driver; `off` does without.
pub(crate) const CUDA_LIBRARY: &str = "HANGSCOPE_CUDA_LIBRARY";
/// `1` asks NCCL for events of kernels' channels.
pub(crate) const KERNEL_CH: &str = "HANGSCOPE_NCCL_KERNELCH";

/// Switches of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginSettings {
    /// The driver's library; `None`: no CUDA calls.
    pub cuda_library: Option<OsString>,
    /// Whether ends are told by the kernels' channels. They cost more than CUDA's events, and say more.
    pub kernel_ch: bool,
}

impl PluginSettings {
    pub(crate) fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let cuda = lookup(CUDA_LIBRARY).filter(|name| !name.is_empty());
        Self {
            cuda_library: match cuda {
                Some(name) if name == "off" => None,
                Some(name) => Some(name),
                None => Some("libcuda.so.1".into()),
            },
            kernel_ch: lookup(KERNEL_CH).is_some_and(|value| value == "1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cuda: &str, kernel_ch: &str) -> PluginSettings {
        PluginSettings::from_variables(|name| match name {
            CUDA_LIBRARY => Some(cuda.into()),
            KERNEL_CH => Some(kernel_ch.into()),
            _ => None,
        })
    }

    #[test]
    fn channels_are_watched_on_request_alone() {
        let usual = PluginSettings::from_variables(|_| None);
        assert_eq!(usual, PluginSettings { cuda_library: Some("libcuda.so.1".into()), kernel_ch: false });
        assert_eq!(read("", ""), usual);
        assert_eq!(read("off", "1"), PluginSettings { cuda_library: None, kernel_ch: true });
        assert_eq!(read("/a/libx.so", "0").cuda_library, Some("/a/libx.so".into()));
    }
}
