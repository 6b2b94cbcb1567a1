//! Compiling and running C programs against the library that these tests were built with.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// How a program gets the library.
#[derive(Clone, Copy)]
pub(crate) enum Linkage {
    Shared,
    Static,
}

/// A compiled program.
pub(crate) struct Program {
    path: PathBuf,
    _folder: TempDir,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where Cargo puts the libraries: beside this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a test is in a folder").into()
}

/// The C compiler: `CC`, or `cc`. Without one, says so; in CI, fails.
fn compiler(test: &str) -> Option<Command> {
    let name = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if Command::new(&name).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(Command::new(name));
    }
    assert!(std::env::var_os("CI").is_none(), "{test}: there is no C compiler, and in CI there has to be one");
    eprintln!("{test}: SKIPPED, there is no C compiler");
    None
}

/// Whether it succeeded, and what it printed.
pub(crate) fn output_of(command: &mut Command) -> (bool, String, String) {
    let output = command.output().expect("a program that can be run");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

impl Program {
    /// The program of this name under `tests/c`; none without a C compiler.
    pub(crate) fn compiled(name: &str, linkage: Linkage) -> Option<Self> {
        Self::of(&root().join("tests/c").join(name), linkage, &[])
    }

    /// The example of this name; none without a C compiler.
    pub(crate) fn example(name: &str, libraries: &[&str]) -> Option<Self> {
        Self::of(&root().join("../../examples").join(name), Linkage::Shared, libraries)
    }

    fn of(source: &Path, linkage: Linkage, further: &[&str]) -> Option<Self> {
        let name = source.file_name().expect("a program has a name");
        let mut compiler = compiler(&name.to_string_lossy())?;
        let folder = tempfile::tempdir().expect("a folder for the program");
        let path = folder.path().join(name);
        compiler.args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror"]);
        compiler.arg("-I").arg(root().join("include")).arg("-o").arg(&path).arg(source.with_extension("c"));
        match linkage {
            Linkage::Shared => {
                let mut rpath = std::ffi::OsString::from("-Wl,-rpath,");
                rpath.push(libraries());
                compiler.arg("-L").arg(libraries()).args(["-lslotwork_capi"]).arg(rpath);
            }
            Linkage::Static => {
                compiler.arg(libraries().join("libslotwork_capi.a")).args(["-lgcc_s", "-lm", "-ldl"]);
            }
        }
        compiler.args(further);
        let (succeeded, _, errors) = output_of(&mut compiler);
        assert!(succeeded, "{}: {errors}", source.display());
        Some(Self { path, _folder: folder })
    }

    /// The names of its tests.
    pub(crate) fn tests(&self) -> Vec<String> {
        let (succeeded, names, errors) = output_of(&mut Command::new(&self.path));
        assert!(succeeded, "{errors}");
        names.lines().map(str::to_owned).collect()
    }

    /// Runs one of its tests.
    pub(crate) fn command(&self, test: &str) -> Command {
        self.with(&[test])
    }

    /// Runs it with these arguments.
    pub(crate) fn with(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        command
    }
}

/// Compiles a program that is nothing but this header.
pub(crate) fn check_header(language: &str, standard: &str, header: &str) {
    let Some(mut compiler) = compiler(header) else { return };
    let folder = tempfile::tempdir().expect("a folder for the program");
    let source = folder.path().join("program");
    std::fs::write(&source, format!("#include \"{header}\"\n")).expect("a program");
    compiler.args(["-x", language, standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
    compiler.arg("-I").arg(root().join("include")).arg(source);
    let (succeeded, _, errors) = output_of(&mut compiler);
    if !succeeded && errors.contains("cc1plus") && std::env::var_os("CI").is_none() {
        return eprintln!("{header}: SKIPPED, there is no C++ compiler");
    }
    assert!(succeeded, "{language} {standard} {header}: {errors}");
}
