//! Short texts about six topics: sentences of shared patterns, with words in common, asides and typing errors.
//!
//! A text has one to three sentences. In each, three words of ten belong to its topic and the others to none; topics
//! share some words with the next one round a circle, one sentence of eight is about another topic, and one word of
//! thirty has a typing error. So no single word identifies a topic, and a few texts cannot be classified at all.

use dial::Control;
use dial::seed::{Purpose, Random};

use super::shuffled_parts;
use crate::error::Fault;
use crate::featurize::text;
use crate::pool::Pool;
use crate::pool::show::Show;
use crate::pool::truth::Truth;

/// A topic: its name, its things (the last ones are those of the next topic also), what they do, and how they are.
struct Topic {
    name: &'static str,
    things: &'static str,
    doings: &'static str,
    manners: &'static str,
}

const TOPICS: [Topic; 6] = [
    Topic {
        name: "garden",
        things: "rose hedge lawn tulip spade seedling orchard compost weed greenhouse shrub leaf herb pepper pot water",
        doings: "grows blooms withers spreads ripens climbs sprouts needs",
        manners: "green leafy damp thorny early wild young fresh",
    },
    Topic {
        name: "kitchen",
        things: "soup bread oven recipe onion saucepan butter dough stew plate spoon pastry herb pepper pot flour scale",
        doings: "simmers bakes boils burns tastes rises melts needs",
        manners: "salty warm crisp sweet burnt tender thick fresh",
    },
    Topic {
        name: "music",
        things: "violin concert melody chorus drum rehearsal orchestra tune piano singer ballad rhythm scale record key",
        doings: "sounds fades swells repeats begins echoes plays opens",
        manners: "loud quiet slow lively sad solemn bright sharp",
    },
    Topic {
        name: "computers",
        things: "server keyboard program database screen compiler folder backup password network cable update record key port",
        doings: "crashes freezes compiles restarts fails loads runs opens",
        manners: "slow digital broken busy remote secure corrupt sharp",
    },
    Topic {
        name: "travel",
        things: "train ticket harbour suitcase passport hotel ferry map border luggage platform journey port front delay",
        doings: "leaves arrives departs waits crosses stops runs turns",
        manners: "late crowded distant foreign cheap long narrow early",
    },
    Topic {
        name: "weather",
        things: "storm rain cloud thunder frost fog breeze sunshine drizzle hail forecast temperature front delay water leaf",
        doings: "clears freezes passes gathers rises turns lifts spreads",
        manners: "cold damp windy grey mild heavy warm bright",
    },
];

const PEOPLE: [&str; 8] = [
    "she",
    "he",
    "my neighbour",
    "the teacher",
    "our friend",
    "everybody",
    "the old man",
    "my sister",
];
const COMMON_NOUNS: &str = "day thing place morning house street question reason hand moment story corner week part side \
                      table door answer number picture";
const PLAIN_ADJECTIVES: &str =
    "good small other same whole little new real simple strange usual main";
const SENTENCE_PATTERNS: [&str; 10] = [
    "{who} said that the {how} {thing} {does} again",
    "this {day} the {thing} {does} near the {day}",
    "{who} had never seen such a {how} {thing} before",
    "nobody knows why the {thing} {does} in the {plain} {day}",
    "the {plain} {day} began when {who} found a {thing} by the {day}",
    "it was a {plain} {day} and {who} thought about the {thing}",
    "without the {thing} every {day} would be {plain}",
    "{who} told us about a {how} {day} and a {plain} {thing}",
    "there is always some {thing} that {does} at the {how} {day}",
    "in the end {who} kept the {plain} {thing} for another {day}",
];
/// Chances: that a sentence is about another topic, and that a word has a typing error.
const OFF_TOPIC_CHANCE: f64 = 1.0 / 8.0;
const TYPO_CHANCE: f64 = 1.0 / 30.0;

/// n texts and their topics, about as many of each.
pub fn texts(n: usize, seed: u64, control: &Control) -> Result<Pool, Fault> {
    let mut random = Random::new(seed, Purpose::Generator, 0);
    let topics = shuffled_parts(&[1.0; TOPICS.len()], n, &mut random);
    let texts: Vec<String> = topics
        .iter()
        .map(|&topic| text(topic, &mut random))
        .collect();
    let described = text::describe(&texts, control)?;
    let classes = TOPICS.iter().map(|topic| topic.name.to_string()).collect();
    let labels = topics.iter().map(|&topic| Some(topic as u16)).collect();
    let truth = Truth {
        classes,
        labels,
        clusters: None,
    };
    Ok(Pool {
        truth: Some(truth),
        show: Show::Texts(texts),
        text_features: Some(text::VERSION),
        ..Pool::new("texts", described.matrix)
    })
}

fn text(topic: usize, random: &mut Random) -> String {
    let sentences = 1 + random.below(3);
    let one = |_| {
        let aside = random.uniform() < OFF_TOPIC_CHANCE;
        let about = if aside {
            random.below(TOPICS.len())
        } else {
            topic
        };
        sentence(&TOPICS[about], random)
    };
    (0..sentences).map(one).collect::<Vec<_>>().join(" ")
}

/// A pattern filled in, with a capital letter and a full stop.
fn sentence(topic: &Topic, random: &mut Random) -> String {
    let mut words = Vec::new();
    for word in SENTENCE_PATTERNS[random.below(SENTENCE_PATTERNS.len())].split(' ') {
        let word = match word {
            "{who}" => PEOPLE[random.below(PEOPLE.len())],
            "{day}" => any(COMMON_NOUNS, random),
            "{plain}" => any(PLAIN_ADJECTIVES, random),
            "{thing}" => any(topic.things, random),
            "{does}" => any(topic.doings, random),
            "{how}" => any(topic.manners, random),
            word => word,
        };
        words.push(if random.uniform() < TYPO_CHANCE {
            mistyped(word, random)
        } else {
            word.to_string()
        });
    }
    let text = words.join(" ");
    let first = text.chars().next().map(|c| c.to_ascii_uppercase());
    first
        .into_iter()
        .chain(text.chars().skip(1))
        .chain(['.'])
        .collect()
}

/// One of the words of a list.
fn any(words: &'static str, random: &mut Random) -> &'static str {
    let words: Vec<&str> = words.split_whitespace().collect();
    words[random.below(words.len())]
}

/// A word with two letters swapped, a letter left out, or a letter twice.
fn mistyped(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < 3 {
        return word.to_string();
    }
    let at = random.below(letters.len() - 1);
    match random.below(3) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        _ => letters.insert(at, letters[at]),
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_about_equally_many_and_every_text_is_a_sentence() {
        let pool = texts(60, 5, &Control::new()).unwrap();
        let Show::Texts(texts) = &pool.show else {
            panic!("texts are shown as texts")
        };
        assert!(
            texts
                .iter()
                .all(|text| text.ends_with('.') && text.split(' ').count() >= 7)
        );
        assert!(
            texts
                .iter()
                .all(|text| text.starts_with(char::is_uppercase) && !text.contains('{'))
        );
        let truth = pool.truth.unwrap();
        let count = |class| {
            truth
                .labels
                .iter()
                .filter(|label| **label == Some(class))
                .count()
        };
        assert_eq!((0..6).map(count).collect::<Vec<_>>(), [10; 6]);
    }

    #[test]
    fn typing_errors_change_a_word_by_a_letter_or_two() {
        let mut random = Random::new(1, Purpose::User, 0);
        let made: Vec<String> = (0..50).map(|_| mistyped("abc", &mut random)).collect();
        assert!(
            made.iter()
                .all(|word| ["bac", "acb", "bc", "ac", "aabc", "abbc"].contains(&word.as_str()))
        );
        assert_eq!(mistyped("of", &mut random), "of");
    }

    /// How many of the ten nearest neighbours share the topic, over every fifth text.
    fn purity(pool: &Pool) -> f64 {
        let (matrix, labels) = (&pool.matrix, &pool.truth.as_ref().unwrap().labels);
        let product = |i: usize, j: usize| -> f64 {
            (0..matrix.dim)
                .map(|c| matrix.get(i, c) * matrix.get(j, c))
                .sum()
        };
        let share = |i: usize| {
            let mut others: Vec<(f64, usize)> = (0..matrix.n)
                .filter(|&j| j != i)
                .map(|j| (product(i, j), j))
                .collect();
            others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let same = others[..10].iter().filter(|(_, j)| labels[*j] == labels[i]);
            same.count() as f64 / 10.0
        };
        let asked: Vec<f64> = (0..matrix.n).step_by(5).map(share).collect();
        asked.iter().sum::<f64>() / asked.len() as f64
    }

    #[test]
    fn neighbours_share_the_topic_with_the_same_bits_for_any_number_of_threads() {
        let made = |threads| {
            let workers = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let workers = workers.build().unwrap();
            workers.install(|| texts(1800, 0, &Control::new()).unwrap())
        };
        let (one, three) = (made(1), made(3));
        assert_eq!(one.matrix, three.matrix);
        // The first version of the description, in 100 components too, reached 0.58.
        let purity = purity(&one);
        assert!(purity > 0.62, "{purity}");
    }
}
