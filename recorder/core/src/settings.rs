//! What the environment asks for.
//!
//! The recorder's own names are `HANGSCOPE_*`. PyTorch's names for the same things are honoured where ours are unset,
//! so that a job script that sets them means the same with either recorder.

use std::path::PathBuf;
use std::time::Duration;

/// What a recorder does. [`Settings::from_environment`] reads it; tests fill it by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Recordings that are kept; 0 switches the recorder off. `HANGSCOPE_BUFFER_SIZE`, else `TORCH_FR_BUFFER_SIZE` or
    /// `TORCH_NCCL_TRACE_BUFFER_SIZE`; else 2,000.
    pub buffer_size: usize,
    /// What dumps' paths begin with; the rank follows. `HANGSCOPE_OUT` names a folder; else `TORCH_FR_DUMP_TEMP_FILE`
    /// or `TORCH_NCCL_DEBUG_INFO_TEMP_FILE` name the prefix; else it is PyTorch's usual one in the user's cache.
    pub prefix: PathBuf,
    /// Whether each library's dumps go to a folder of its name below that of the prefix. `HANGSCOPE_BY_LIBRARY`; else
    /// false. A program that uses two of them would write two dumps of one name.
    pub by_library: bool,
    /// `HANGSCOPE_FORMAT`: `pickle` (the usual one) or `json`.
    pub form: DumpForm,
    /// How long an operation may take. `HANGSCOPE_TIMEOUT`: a number with `ms`, `s`, `m` or `h`, or seconds; else ten
    /// minutes.
    pub timeout: Duration,
    /// Whether to write a dump when one takes longer. `HANGSCOPE_DUMP_ON_TIMEOUT`, else `TORCH_FR_DUMP_ON_TIMEOUT` or
    /// `TORCH_NCCL_DUMP_ON_TIMEOUT`; else true.
    pub dump_on_timeout: bool,
    /// Whether to write one when the program ends as it should. `HANGSCOPE_DUMP_AT_EXIT`; else false.
    pub dump_at_exit: bool,
    /// Which stacks are kept. `HANGSCOPE_STACKS`: `none`, `python`, `native` or `all`; `TORCH_FR_CPP_STACK` or
    /// `TORCH_NCCL_TRACE_CPP_STACK` set to 1 mean `all`; else `python`.
    pub stacks: Stacks,
    /// Where rank 0 listens. `HANGSCOPE_CHANNEL`: `HOST:PORT`, or `off`; else it comes from `MASTER_ADDR` and
    /// `MASTER_PORT`, whose port is taken plus [`CHANNEL_PORT_OFFSET`].
    pub channel: ChannelSetting,
    /// What members of the channel show each other. `HANGSCOPE_TOKEN`; else empty.
    pub token: String,
    /// The signal that asks for a dump. `HANGSCOPE_SIGNAL`: `USR1`, `USR2`, `TERM`, a number, or `off`; else `USR2`.
    /// One that the program handles itself is left alone.
    pub signal: Option<i32>,
    /// The file whose appearance or change asks all ranks that see it for a dump. `HANGSCOPE_TRIGGER`; else `dump-now`
    /// beside the dumps.
    pub trigger: PathBuf,
    /// This process's rank in the job, from the first of [`RANK_VARIABLES`] that is set.
    pub rank: Option<u32>,
    /// The number of ranks in the job, from the first of [`SIZE_VARIABLES`] that is set.
    pub world_size: Option<u32>,
    /// Whether to start the thread that watches and dumps. Only tests do without.
    pub watchdog: bool,
}

/// The form of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpForm {
    /// Pickle protocol 2, as PyTorch writes to disk.
    Pickle,
    /// JSON, as PyTorch's handlers give it, with frames.
    Json,
}

/// Which stacks are kept of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stacks {
    /// Return addresses; their names are looked up when a dump is written.
    pub native: bool,
    /// Python's frames. For the versions whose layout is not known the caller has to hold the interpreter's lock.
    pub python: bool,
}

/// Where the ranks find each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelSetting {
    /// Nowhere: each rank is on its own.
    Off,
    /// Nothing was said; a library that can tell the ranks itself may do so.
    Unset,
    /// Rank 0 listens here.
    At(String),
}

/// What is added to `MASTER_PORT`: that port itself is taken by the program's own store.
pub const CHANNEL_PORT_OFFSET: u16 = 1907;

/// Variables that hold a process's rank, the first that is set counts: the recorder's own, torchrun's, Open MPI's,
/// MPICH's, Slurm's.
pub const RANK_VARIABLES: [&str; 7] =
    ["HANGSCOPE_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANK", "SLURM_PROCID"];

/// Variables that hold the number of ranks, in the order of [`RANK_VARIABLES`].
pub const SIZE_VARIABLES: [&str; 6] =
    ["HANGSCOPE_WORLD_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_SIZE", "SLURM_NTASKS"];

/// PyTorch's number of entries.
const BUFFER_SIZE: usize = 2000;
/// More would take gigabytes in every process.
const MAX_BUFFER_SIZE: usize = 1 << 22;
/// PyTorch's time limit.
const TIMEOUT: Duration = Duration::from_secs(600);

impl Default for Settings {
    fn default() -> Self {
        let folder = PathBuf::from("/tmp/.cache/torch");
        Self {
            buffer_size: BUFFER_SIZE,
            prefix: folder.join(FILE_PREFIX),
            by_library: false,
            form: DumpForm::Pickle,
            timeout: TIMEOUT,
            dump_on_timeout: true,
            dump_at_exit: false,
            stacks: Stacks { native: false, python: true },
            channel: ChannelSetting::Unset,
            token: String::new(),
            signal: Some(libc::SIGUSR2),
            trigger: folder.join(TRIGGER_FILE),
            rank: None,
            world_size: None,
            watchdog: true,
        }
    }
}

/// What the names of dumps begin with, as PyTorch's.
pub const FILE_PREFIX: &str = "comm_lib_trace_rank_";
const TRIGGER_FILE: &str = "dump-now";

impl Settings {
    /// What this process's environment asks for, and a line for each value that makes no sense and was left out.
    #[must_use]
    pub fn from_environment() -> (Self, Vec<String>) {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same, from any source of variables.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut reader = Reader { lookup, faults: Vec::new() };
        let settings = reader.settings();
        (settings, reader.faults)
    }

    /// Puts the dumps into the library's own folder, if that is asked for.
    pub(crate) fn for_library(&mut self, library: &str) {
        if self.by_library
            && let Some(name) = self.prefix.file_name().map(ToOwned::to_owned)
        {
            self.prefix = self.folder().join(library).join(name);
        }
    }

    /// The path of a rank's dump.
    #[must_use]
    pub fn dump_path(&self, rank: u32) -> PathBuf {
        let mut path = self.prefix.clone().into_os_string();
        path.push(rank.to_string());
        path.into()
    }

    /// The folder that dumps go to.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        match self.prefix.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

struct Reader<F> {
    lookup: F,
    faults: Vec<String>,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    fn settings(&mut self) -> Settings {
        let usual = Settings::default();
        let size_names = ["HANGSCOPE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"];
        let buffer_size = self.parsed(&size_names, "a number of entries", |text| text.parse::<usize>().ok());
        let dump_names = ["HANGSCOPE_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT"];
        let prefix = self.prefix();
        let beside = prefix.parent().map(|folder| folder.join(TRIGGER_FILE));
        Settings {
            buffer_size: buffer_size.unwrap_or(BUFFER_SIZE).min(MAX_BUFFER_SIZE),
            by_library: self.parsed(&["HANGSCOPE_BY_LIBRARY"], "0 or 1", flag).unwrap_or(usual.by_library),
            form: self
                .parsed(&["HANGSCOPE_FORMAT"], "pickle or json", |text| match text {
                    "pickle" => Some(DumpForm::Pickle),
                    "json" => Some(DumpForm::Json),
                    _ => None,
                })
                .unwrap_or(usual.form),
            timeout: self
                .parsed(&["HANGSCOPE_TIMEOUT"], "a time such as 90s, 10m or 2h, above 0", duration)
                .unwrap_or(usual.timeout),
            dump_on_timeout: self.parsed(&dump_names, "0 or 1", flag).unwrap_or(usual.dump_on_timeout),
            dump_at_exit: self.parsed(&["HANGSCOPE_DUMP_AT_EXIT"], "0 or 1", flag).unwrap_or(usual.dump_at_exit),
            stacks: self.stacks(),
            channel: self.channel(),
            token: self.text(&["HANGSCOPE_TOKEN"]).map(|(_, text)| text).unwrap_or_default(),
            signal: self
                .parsed(&["HANGSCOPE_SIGNAL"], "USR1, USR2, TERM, a number, or off", signal)
                .unwrap_or(usual.signal),
            trigger: self.text(&["HANGSCOPE_TRIGGER"]).map(|(_, text)| text.into()).or(beside).unwrap_or(usual.trigger),
            rank: self.parsed(&RANK_VARIABLES, "a rank", |text| text.parse().ok()),
            world_size: self.parsed(&SIZE_VARIABLES, "a number of ranks", |text| text.parse().ok().filter(|n| *n > 0)),
            watchdog: true,
            prefix,
        }
    }

    fn prefix(&self) -> PathBuf {
        if let Some((_, folder)) = self.text(&["HANGSCOPE_OUT"]) {
            return PathBuf::from(folder).join(FILE_PREFIX);
        }
        if let Some((_, prefix)) = self.text(&["TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"]) {
            return prefix.into();
        }
        let cache = match (self.text(&["XDG_CACHE_HOME"]), self.text(&["HOME"])) {
            (Some((_, cache)), _) => PathBuf::from(cache),
            (None, Some((_, home))) => PathBuf::from(home).join(".cache"),
            (None, None) => PathBuf::from("/tmp/.cache"),
        };
        cache.join("torch").join(FILE_PREFIX)
    }

    fn stacks(&mut self) -> Stacks {
        let own = self.parsed(&["HANGSCOPE_STACKS"], "none, python, native or all", |text| {
            let (native, python) = match text {
                "none" => (false, false),
                "python" => (false, true),
                "native" => (true, false),
                "all" => (true, true),
                _ => return None,
            };
            Some(Stacks { native, python })
        });
        let torch_names = ["TORCH_FR_CPP_STACK", "TORCH_NCCL_TRACE_CPP_STACK"];
        own.unwrap_or_else(|| Stacks { native: self.parsed(&torch_names, "0 or 1", flag) == Some(true), python: true })
    }

    fn channel(&mut self) -> ChannelSetting {
        let own = self.parsed(&["HANGSCOPE_CHANNEL"], "HOST:PORT, or off", |text| match text {
            "off" | "0" => Some(ChannelSetting::Off),
            _ => {
                let (host, port) = text.rsplit_once(':')?;
                (!host.is_empty() && port.parse::<u16>().is_ok()).then(|| ChannelSetting::At(text.to_owned()))
            }
        });
        if let Some(own) = own {
            return own;
        }
        let port = self.parsed(&["MASTER_PORT"], "a port", |text| text.parse::<u16>().ok());
        match (self.text(&["MASTER_ADDR"]), port) {
            (Some((_, host)), Some(port)) => {
                // Above the last port it goes on at the first that needs no privilege.
                let port = port.checked_add(CHANNEL_PORT_OFFSET).unwrap_or_else(|| port - (u16::MAX - 1024) / 2);
                let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
                ChannelSetting::At(format!("{host}:{port}"))
            }
            _ => ChannelSetting::Unset,
        }
    }

    /// The first of these variables that is set to something.
    fn text(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| (self.lookup)(name).filter(|text| !text.is_empty()).map(|text| (*name, text)))
    }

    fn parsed<T>(
        &mut self,
        names: &[&'static str],
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (name, text) = self.text(names)?;
        let value = parse(text.trim());
        if value.is_none() {
            self.faults.push(format!("{name}={text} is left out: expected {expected}"));
        }
        value
    }
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" | "y" => Some(true),
        "0" | "false" | "off" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// A time with its unit; seconds without one.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let time = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
    (!time.is_zero()).then_some(time)
}

fn signal(text: &str) -> Option<Option<i32>> {
    match text.trim_start_matches("SIG") {
        "off" | "0" | "none" => Some(None),
        "USR1" => Some(Some(libc::SIGUSR1)),
        "USR2" => Some(Some(libc::SIGUSR2)),
        "TERM" => Some(Some(libc::SIGTERM)),
        number => number.parse().ok().filter(|number| (1..=64).contains(number)).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
        Settings::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_empty_environment_gives_pytorchs_defaults() {
        let (settings, faults) = read(&[("HOME", "/home/me")]);
        assert_eq!(faults, [""; 0]);
        assert_eq!(settings.buffer_size, 2000);
        assert_eq!(settings.timeout, Duration::from_secs(600));
        assert!(settings.dump_on_timeout);
        assert_eq!(settings.dump_path(12), PathBuf::from("/home/me/.cache/torch/comm_lib_trace_rank_12"));
        assert_eq!(settings.trigger, PathBuf::from("/home/me/.cache/torch/dump-now"));
        assert_eq!(settings.channel, ChannelSetting::Unset);
        assert_eq!(read(&[]).0.dump_path(0), PathBuf::from("/tmp/.cache/torch/comm_lib_trace_rank_0"));
        let cache = [("XDG_CACHE_HOME", "/cache"), ("HOME", "/home/me")];
        assert_eq!(read(&cache).0.dump_path(1), PathBuf::from("/cache/torch/comm_lib_trace_rank_1"));
    }

    #[test]
    fn pytorchs_names_count_where_ours_are_unset() {
        let torch = [
            ("TORCH_NCCL_TRACE_BUFFER_SIZE", "50"),
            ("TORCH_FR_DUMP_TEMP_FILE", "/dumps/trace_"),
            ("TORCH_NCCL_DUMP_ON_TIMEOUT", "false"),
            ("TORCH_FR_CPP_STACK", "1"),
        ];
        let (settings, _) = read(&torch);
        assert_eq!(settings.buffer_size, 50);
        assert_eq!(settings.dump_path(3), PathBuf::from("/dumps/trace_3"));
        assert!(!settings.dump_on_timeout);
        assert_eq!(settings.stacks, Stacks { native: true, python: true });

        let own = [("HANGSCOPE_BUFFER_SIZE", "7"), ("HANGSCOPE_OUT", "/here"), ("HANGSCOPE_DUMP_ON_TIMEOUT", "1")];
        let (settings, _) = read(&[own.as_slice(), &torch].concat());
        assert_eq!(settings.buffer_size, 7);
        assert_eq!(settings.dump_path(3), PathBuf::from("/here/comm_lib_trace_rank_3"));
        assert!(settings.dump_on_timeout);
    }

    #[test]
    fn what_makes_no_sense_is_told_and_left_out() {
        let (settings, faults) = read(&[
            ("HANGSCOPE_BUFFER_SIZE", "many"),
            ("HANGSCOPE_TIMEOUT", "soon"),
            ("HANGSCOPE_SIGNAL", "99"),
            ("HANGSCOPE_CHANNEL", "host"),
            ("RANK", "-1"),
            ("WORLD_SIZE", "0"),
        ]);
        assert_eq!(faults.len(), 6, "{faults:?}");
        assert_eq!(faults[0], "HANGSCOPE_BUFFER_SIZE=many is left out: expected a number of entries");
        let expected =
            Settings { prefix: settings.prefix.clone(), trigger: settings.trigger.clone(), ..Settings::default() };
        assert_eq!(settings, expected);
    }

    #[test]
    fn each_library_may_have_its_folder() {
        let (mut settings, _) = read(&[("HANGSCOPE_OUT", "/here"), ("HANGSCOPE_BY_LIBRARY", "1")]);
        settings.for_library("mpi");
        assert_eq!(settings.dump_path(3), PathBuf::from("/here/mpi/comm_lib_trace_rank_3"));
        // One trigger is for all.
        assert_eq!(settings.trigger, PathBuf::from("/here/dump-now"));
    }

    #[test]
    fn times_have_units() {
        for (text, milliseconds) in
            [("90", 90_000), ("1.5s", 1500), ("250ms", 250), ("10m", 600_000), ("2h", 7_200_000)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "0s", "-5s", "5 days", "1e400", "NaN"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn the_channel_is_beside_the_programs_own_store() {
        let at = |variables: &[(&str, &str)]| read(variables).0.channel;
        let master = [("MASTER_ADDR", "node-7"), ("MASTER_PORT", "29500")];
        assert_eq!(at(&master), ChannelSetting::At("node-7:31407".to_owned()));
        assert_eq!(
            at(&[("MASTER_ADDR", "fd00::7"), ("MASTER_PORT", "29500")]),
            ChannelSetting::At("[fd00::7]:31407".to_owned())
        );
        assert!(matches!(at(&[("MASTER_ADDR", "a"), ("MASTER_PORT", "65535")]), ChannelSetting::At(_)));
        assert_eq!(at(&[("HANGSCOPE_CHANNEL", "off"), master[0], master[1]]), ChannelSetting::Off);
        assert_eq!(at(&[("HANGSCOPE_CHANNEL", "h:9"), master[0]]), ChannelSetting::At("h:9".to_owned()));
        assert_eq!(at(&[("MASTER_ADDR", "node-7")]), ChannelSetting::Unset);
    }

    #[test]
    fn ranks_come_from_whoever_launched() {
        assert_eq!(read(&[("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "8")]).0.rank, Some(3));
        let both = read(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("RANK", "5"), ("WORLD_SIZE", "16")]).0;
        assert_eq!((both.rank, both.world_size), (Some(5), Some(16)));
    }
}
