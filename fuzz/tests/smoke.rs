//! A few thousand mutated files for every reader, and a fuzzer that finds what it is for.

use dial::seed::{Purpose, Random};
use dial_fuzz::check::{Failure, listen, shape, watched};
use dial_fuzz::counting::Counting;
use dial_fuzz::mutate::mutated;
use dial_fuzz::run::{End, alone, run};
use dial_fuzz::targets::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn smoke(target: Target) {
    let found = run(target, 1, End::Inputs(3000));
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    // A run in which every file is refused (a reader not built in, say) would pass without having tested anything.
    assert!(
        found.read >= 20,
        "{target:?}: {} of {} inputs were read: {:#?}",
        found.read,
        found.inputs,
        found.answers
    );
    assert!(found.answers.len() >= 5, "{:#?}", found.answers);
}

#[test]
fn arrays() {
    [Target::Npy, Target::Npz, Target::Rows]
        .into_iter()
        .for_each(smoke);
}

#[test]
fn other_arrays() {
    [Target::Idx, Target::Mat].into_iter().for_each(smoke);
}

#[test]
fn text() {
    [
        Target::Table,
        Target::Jsonl,
        Target::Labels,
        Target::Features,
    ]
    .into_iter()
    .for_each(smoke);
}

#[test]
fn columns() {
    [Target::Parquet, Target::Arrow].into_iter().for_each(smoke);
}

#[test]
fn pictures() {
    smoke(Target::Pictures);
}

#[test]
fn scenes_graphs_and_the_rest() {
    [Target::Texts, Target::Envi, Target::Graph, Target::Other]
        .into_iter()
        .for_each(smoke);
}

#[test]
fn the_same_seed_mutates_alike() {
    let made = |seed| {
        let mut random = Random::new(seed, Purpose::User, 0);
        (0..50)
            .map(|_| mutated(b"id,a\n1,2\n", b"other", &mut random))
            .collect::<Vec<_>>()
    };
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}

#[test]
fn answers_of_one_kind_have_one_shape() {
    assert_eq!(
        shape("line 3: \"x\" is bad"),
        shape("line 77: \"yy\" is bad")
    );
    assert_ne!(shape("line 3: short"), shape("line 3: long"));
}

#[test]
fn what_is_wrong_is_found() {
    let _alone = alone();
    listen();
    assert!(
        matches!(watched(10, 50, || panic!("ouch")), Err(Failure::Panic(text)) if text.contains("ouch"))
    );
    let memory = watched(10, 50, || std::hint::black_box(vec![1u8; 65 << 20]).len());
    assert!(matches!(memory, Err(Failure::Memory(_))), "{memory:?}");
    let late = watched(10, 50, || {
        std::thread::sleep(std::time::Duration::from_millis(1100))
    });
    assert!(matches!(late, Err(Failure::Slow(_))));
    assert_eq!(
        watched(1 << 20, 50, || std::hint::black_box(vec![1u8; 65 << 20])
            .len()),
        Ok(65 << 20)
    );
}
