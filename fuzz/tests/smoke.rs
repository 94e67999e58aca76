//! A few thousand mutated files for every reader, and a fuzzer that finds what it is for.

use dial::seed::{Purpose, Random};
use dial_fuzz::check::shape;
use dial_fuzz::counting::Counting;
use dial_fuzz::mutate::mutated;
use dial_fuzz::run::{End, run};
use dial_fuzz::targets::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn smoke(target: Target) {
    let found = run(target, 1, End::Inputs(3000));
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    assert!(found.answers.len() >= if target == Target::Other { 0 } else { 5 }, "{:#?}", found.answers);
}

#[test]
fn arrays() {
    [Target::Npy, Target::Npz, Target::Rows].into_iter().for_each(smoke);
}

#[test]
fn other_arrays() {
    [Target::Idx, Target::Mat].into_iter().for_each(smoke);
}

#[test]
fn text() {
    [Target::Table, Target::Jsonl, Target::Labels, Target::Features].into_iter().for_each(smoke);
}

#[test]
fn graphs_and_the_rest() {
    [Target::Graph, Target::Other].into_iter().for_each(smoke);
}

#[test]
fn the_same_seed_mutates_alike() {
    let made = |seed| {
        let mut random = Random::new(seed, Purpose::User, 0);
        (0..50).map(|_| mutated(b"id,a\n1,2\n", b"other", &mut random)).collect::<Vec<_>>()
    };
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}

#[test]
fn answers_of_one_kind_have_one_shape() {
    assert_eq!(shape("line 3: \"x\" is bad"), shape("line 77: \"yy\" is bad"));
    assert_ne!(shape("line 3: short"), shape("line 3: long"));
}
