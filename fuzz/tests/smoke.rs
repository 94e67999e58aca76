//! A few thousand mutated files for every reader, and a fuzzer that finds what it is for.

use dial::seed::{Purpose, Random};
use dial_fuzz::check::{Failure, listen, shape, watched};
use dial_fuzz::counting::Counting;
use dial_fuzz::mutate::mutated;
use dial_fuzz::run::{End, alone, run};
use dial_fuzz::seeds::seeds;
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

/// Every so-many-th target, so that tests of one process share the work.
fn every(step: usize, first: usize) {
    Target::all()
        .into_iter()
        .skip(first)
        .step_by(step)
        .for_each(smoke);
}

#[test]
fn a_third_of_the_readers() {
    every(3, 0);
}

#[test]
fn another_third_of_the_readers() {
    every(3, 1);
}

#[test]
fn the_last_third_of_the_readers() {
    every(3, 2);
}

#[test]
fn every_target_has_a_word_of_its_own_and_files_to_begin_with() {
    let folder = std::env::temp_dir().join(format!("dial-fuzz-seeds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut words = std::collections::BTreeSet::new();
    for target in Target::all() {
        assert!(words.insert(target.word()), "{target:?}");
        assert!(!seeds(target, &folder).is_empty(), "{target:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
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
