//! Running the command in a folder of its own and looking at what it left.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use dial_store::{Folder, Journal, PreparedPool, Project};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The command's path.
pub const DIAL: &str = env!("CARGO_BIN_EXE_dial");

/// How a run ended.
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// What went to stdout.
    pub out: String,
    /// What went to stderr.
    pub err: String,
}

impl Ran {
    /// The same run, which must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.code, 0, "stderr: {}", self.err);
        self
    }

    /// Stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {:?}", self.out))
    }

    /// Checks that the run failed with this code and these pieces of text, and said nothing on stdout.
    #[track_caller]
    pub fn fails(&self, code: &str, exit_code: i32, pieces: &[&str]) {
        assert_eq!(
            self.code, exit_code,
            "stdout: {} stderr: {}",
            self.out, self.err
        );
        assert!(
            self.err.contains(&format!("error[{code}]: ")),
            "wanted {code}: {}",
            self.err
        );
        for piece in pieces {
            assert!(self.err.contains(piece), "wanted {piece:?}: {}", self.err);
        }
        assert_eq!(self.out, "");
    }
}

/// A folder to run in.
pub struct Place(TempDir);

impl Place {
    /// An empty folder.
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    /// A folder with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Place {
        Place::new().and(name, content)
    }

    /// The same with one more file.
    pub fn and(self, name: &str, content: impl AsRef<[u8]>) -> Place {
        fs::write(self.path(name), content).unwrap();
        self
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The bytes of a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of all files.
    pub fn files(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// The command, ready to be started here.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(DIAL);
        command
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the command here.
    pub fn dial(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }

    /// Runs a part of the laboratory, without data.
    pub fn lab(&self, part: &str, words: &str) -> Ran {
        let args: Vec<&str> = ["lab", part]
            .into_iter()
            .chain(words.split_whitespace())
            .collect();
        ran(self.command(&args).env_remove("DIAL_DATA"))
    }

    /// A script of bash as somebody else on the machine, ready to be started here; none where we may not become that.
    #[cfg(target_os = "linux")]
    pub fn as_nobody(&self, script: &str) -> Option<Command> {
        let become_nobody = |script: &str| {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .args(["bash", "-c", script])
                .current_dir(self.0.path())
                .stdin(Stdio::null());
            command
        };
        let may = become_nobody("true").output();
        may.is_ok_and(|ran| ran.status.success())
            .then(|| become_nobody(script))
    }

    /// Runs a line of words.
    pub fn line(&self, words: &str) -> Ran {
        self.dial(&words.split_whitespace().collect::<Vec<_>>())
    }
}

/// A server on a thread of this process, until it is told to end.
pub struct Serving {
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Place {
    /// Serves a project.
    pub fn serve(&self, project: &str) -> Serving {
        let folder = self.path(project);
        let project = Project::open(&folder, Journal::Wal, 0).unwrap();
        let recipe = project.log().recipe().unwrap().clone();
        let prepared = PreparedPool::open(&recipe, &Folder(folder), &dial::Control::new()).unwrap();
        let settings = dial_server::ServerOptions::default();
        let server = dial_server::Server::start(project, prepared, &settings).unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let running = std::thread::spawn(move || server.run(async { drop(ended.await) }).unwrap());
        Serving { end, running }
    }
}

impl Serving {
    /// Ends it, and waits until it has closed the project.
    pub fn end(self) {
        self.end.send(()).unwrap();
        self.running.join().unwrap();
    }
}

/// Runs a command to its end.
fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().expect("dial is not killed"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The columns of a simulation, in order.
pub const COLUMNS: &str =
    "trial,seed,acquisition,policy,model,query,node,class,labelled,accuracy,clusters_found,seconds";

/// A row of a simulation's CSV, without the time it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub trial: usize,
    pub seed: u64,
    pub acquisition: String,
    pub policy: String,
    pub model: String,
    pub query: usize,
    /// Empty in the row of the initial labels.
    pub node: Option<usize>,
    /// Empty in the row of the initial labels.
    pub class: String,
    pub labelled: usize,
    pub accuracy: f64,
    pub clusters_found: usize,
}

/// Reads the CSV of a simulation. The cells used here hold no commas.
#[track_caller]
pub fn rows(csv: &str) -> Vec<Row> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    lines.map(row).collect()
}

#[track_caller]
fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split(',').collect();
    assert_eq!(cells.len(), 12, "{line}");
    let seconds: f64 = cells[11].parse().unwrap();
    assert!(seconds.is_finite() && seconds >= 0.0, "{line}");
    let whole = |cell: usize| {
        cells[cell]
            .parse::<usize>()
            .unwrap_or_else(|_| panic!("{line}"))
    };
    Row {
        trial: whole(0),
        seed: cells[1].parse().unwrap(),
        acquisition: cells[2].into(),
        policy: cells[3].into(),
        model: cells[4].into(),
        query: whole(5),
        node: (!cells[6].is_empty()).then(|| whole(6)),
        class: cells[7].into(),
        labelled: whole(8),
        accuracy: if cells[9].is_empty() {
            f64::NAN
        } else {
            cells[9].parse().unwrap()
        },
        clusters_found: whole(10),
    }
}

/// Runs a simulation and returns its rows.
#[track_caller]
pub fn simulate(place: &Place, words: &str) -> Vec<Row> {
    rows(
        &place
            .line(&format!("simulate {words} --quiet --out -"))
            .ok()
            .out,
    )
}

/// Left of the origin 7 items of class left, far to the right 5 of class right; with k <= 4 nothing joins them.
pub fn two_blobs() -> Place {
    let left = (0..7).map(|i| format!("{i},0,left\n"));
    let right = (0..5).map(|i| format!("{},1,right\n", 100 + i));
    Place::with(
        "blobs.csv",
        format!("a,b,label\n{}", left.chain(right).collect::<String>()),
    )
}

/// The values of an npy file of one dimension of f64, read by the description of the format.
#[track_caller]
pub fn npy_vector(bytes: &[u8]) -> Vec<f64> {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0, "NumPy aligns the data");
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    let data = &bytes[10 + length..];
    let n = data.len() / 8;
    assert!(
        header.contains("'descr': '<f8'") && header.contains(&format!("'shape': ({n},)")),
        "{header}"
    );
    assert!(
        header.contains("'fortran_order': False") && header.ends_with('\n'),
        "{header}"
    );
    data.chunks_exact(8)
        .map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap()))
        .collect()
}

/// The exponential of the platform: another one than the command's own, and close enough to check it by.
#[allow(clippy::disallowed_methods)]
pub fn exp(x: f64) -> f64 {
    x.exp()
}

/// Solves a small system by elimination with pivots.
pub fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))
            .unwrap();
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (head, upper) = (matrix[column].clone(), right[column]);
        for row in column + 1..n {
            let factor = matrix[row][column] / head[column];
            matrix[row]
                .iter_mut()
                .zip(&head)
                .for_each(|(value, above)| *value -= factor * above);
            right[row] -= factor * upper;
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n)
            .map(|column| matrix[row][column] * right[column])
            .sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

/// Checks two lists of numbers against each other.
#[track_caller]
pub fn close(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
    let near = got
        .iter()
        .zip(want)
        .all(|(g, w)| (g - w).abs() <= tolerance);
    assert!(near, "got {got:?}, want {want:?}");
}
