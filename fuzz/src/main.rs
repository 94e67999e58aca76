//! `fuzz TARGET|all [--seconds 60] [--seed 1] [--out FOLDER]`: fuzzes readers; what fails is written to the folder.
//! `fuzz words` lists the targets.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use dial_fuzz::check::watch;
use dial_fuzz::counting::Counting;
use dial_fuzz::run::{End, Found, run};
use dial_fuzz::targets::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What the command line says.
struct Args {
    targets: Vec<Target>,
    seconds: u64,
    seed: u64,
    out: PathBuf,
}

fn args() -> Option<Args> {
    let mut words = std::env::args().skip(1);
    let name = words.next()?;
    let targets: Vec<Target> = Target::all()
        .into_iter()
        .filter(|one| name == "all" || one.word() == name)
        .collect();
    let mut args = Args {
        targets,
        seconds: 60,
        seed: 1,
        out: "target/fuzz".into(),
    };
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--seconds" => args.seconds = value.parse().ok()?,
            "--seed" => args.seed = value.parse().ok()?,
            "--out" => args.out = value.into(),
            _ => return None,
        }
    }
    (!args.targets.is_empty()).then_some(args)
}

fn main() -> ExitCode {
    let words: Vec<&str> = Target::all().iter().map(|target| target.word()).collect();
    if std::env::args().skip(1).eq(["words"]) {
        println!("{}", words.join("\n"));
        return ExitCode::SUCCESS;
    }
    let Some(args) = args() else {
        eprintln!(
            "usage: fuzz all|{} [--seconds 60] [--seed 1] [--out FOLDER]",
            words.join("|")
        );
        return ExitCode::from(2);
    };
    watch();
    let mut failed = 0;
    for &target in &args.targets {
        let found = run(
            target,
            args.seed,
            End::Time(Duration::from_secs(args.seconds)),
        );
        let Found {
            inputs,
            read,
            answers,
            failures,
        } = &found;
        let (word, answers, failures) = (target.word(), answers.len(), failures.len());
        println!(
            "{word}: {inputs} inputs, {read} of them read, {answers} different answers, {failures} failures"
        );
        failed += failures;
        if *read == 0 {
            println!("  nothing was read: this run says nothing about the reader");
            failed += 1;
        }
        write(&args, target, &found);
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn write(args: &Args, target: Target, found: &Found) {
    for (i, (failure, input)) in found.failures.iter().enumerate() {
        let path = args.out.join(format!(
            "{}-{i}-{}",
            target.word(),
            input.name.replace('/', "-")
        ));
        println!(
            "  {failure:?}\n  options {:#016b}, input in {}",
            input.options,
            path.display()
        );
        let written = std::fs::create_dir_all(&args.out)
            .and_then(|()| std::fs::write(&path, input.wrap.around(&input.bytes)));
        if let Err(error) = written {
            eprintln!("  cannot be written: {error}");
        }
    }
}
