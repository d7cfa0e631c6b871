use super::*;
use proptest::prelude::*;

/// A sequence in short: `USER#<abc>` is a literal and a run of one or more of a, b, c; `<abc:2>` exactly two.
fn texts(short: &str) -> Texts {
    let mut parts = Vec::new();
    let mut rest = short;
    while let Some(open) = rest.find('<') {
        parts.push(Part::Literal(rest[..open].to_owned()));
        let close = rest.find('>').unwrap();
        parts.push(part(&rest[open + 1..close]));
        rest = &rest[close + 1..];
    }
    parts.push(Part::Literal(rest.to_owned()));
    Texts::new(parts.into_iter().filter(|part| *part != Part::Literal(String::new())).collect())
}

fn part(inner: &str) -> Part {
    if let Some((chars, count)) = inner.split_once(':') {
        return Part::exactly(class(chars), count.parse().unwrap());
    }
    if inner.contains('|') {
        return Part::OneOf(inner.split('|').map(str::to_owned).collect());
    }
    Part::some(class(inner))
}

fn class(name: &str) -> Chars {
    match name {
        "any" => Chars::any(),
        "key" => Chars::any().without(&Chars::of("#")),
        "digit" => Chars::digits(),
        other => Chars::of(other),
    }
}

fn equal(left: &str, right: &str) -> bool {
    texts(left).common(&texts(right)).is_some()
}

#[test]
fn keys_with_different_literals_are_never_equal() {
    assert!(!equal("USER#<key>", "BATCH#<key>"));
    assert!(!equal("METADATA", "BATCH#<key>"));
    assert!(equal("USER#<key>", "USER#<digit>"));
}

#[test]
fn keys_without_the_delimiter_cannot_reach_into_the_next_part() {
    assert!(!equal("USER#<key>", "USER#<key>#STORY#<key>"));
    assert!(equal("USER#<any>", "USER#<key>#STORY#<key>"));
    assert!(!equal("t#<key>U#<key>#<key>", "t#<key>G#$public#<key>"));
    assert!(!equal("t#<key>", "t#<key>U#<key>#<key>"));
}

#[test]
fn a_class_that_lacks_the_literal_is_disjoint_from_it() {
    assert!(equal("c#*", "c#<key>"));
    assert!(!equal("c#*", "c#<abc>"));
}

#[test]
fn an_example_is_in_both_sets() {
    assert_eq!(texts("USER#<key>").common(&texts("USER#<digit:3>")), Some("USER#111".to_owned()));
}

#[test]
fn two_runs_without_a_boundary_read_in_two_ways() {
    assert!(texts("<key><key>").read_in_two_ways().is_some());
    assert!(texts("<any>#<any>").read_in_two_ways().is_some());
    assert!(texts("<key>#<key>").read_in_two_ways().is_none());
    assert!(texts("t#<key>U#<key>#<key>").read_in_two_ways().is_none());
    assert!(texts("<digit:4><any>").read_in_two_ways().is_none());
    assert!(texts("<a|ab><bc>").read_in_two_ways().is_some());
    assert!(texts("<a|b><bc>").read_in_two_ways().is_none());
}

#[test]
fn fixed_widths_are_never_the_beginning_of_another() {
    assert!(texts("ORDER#<digit>").beginning_of_another().is_some());
    assert!(texts("ORDER#<digit:6>").beginning_of_another().is_none());
    assert!(texts("STATUS#<active|ready>").beginning_of_another().is_none());
    assert!(texts("STATUS#<active|active2>").beginning_of_another().is_some());
}

#[test]
fn a_prefix_matches_what_begins_with_it() {
    let prefix = texts("CHAPTER#").then_anything();
    assert!(prefix.common(&texts("CHAPTER#<key>")).is_some());
    assert!(prefix.common(&texts("METADATA")).is_none());
}

#[test]
fn a_range_runs_from_its_floor_to_its_ceiling() {
    let events = texts("EVENT#<digit:4>#<key>");
    let reminders = texts("REMINDER#<key>");
    let open = Range { low: Some(texts("EVENT#<digit:4>").floor()), high: None };
    assert!(events.common_in_range(&open).is_some());
    assert!(reminders.common_in_range(&open).is_some());
    let closed = Range { low: open.low.clone(), high: Some("EVENT#~".to_owned()) };
    assert!(events.common_in_range(&closed).is_some());
    assert!(reminders.common_in_range(&closed).is_none());
    let before = Range { low: None, high: Some(texts("DUE#<digit:4>").ceiling()) };
    assert!(texts("BRANCH#<key>").common_in_range(&before).is_some());
    assert!(texts("EVENT#<key>").common_in_range(&before).is_none());
}

/// A part and a text that it gives.
fn part_and_text() -> impl Strategy<Value = (Part, String)> {
    let run = |class: &'static str, min: usize, max: Option<usize>| {
        let longest = max.unwrap_or(3);
        proptest::string::string_regex(&format!("[{class}]{{{min},{longest}}}"))
            .unwrap()
            .prop_map(move |text| (Part::Run { chars: Chars::of(class), min, max }, text))
    };
    prop_oneof![
        "[a-c#]{1,3}".prop_map(|text| (Part::Literal(text.clone()), text)),
        run("abc", 1, None),
        run("abc#", 0, None),
        run("ab", 2, Some(2)),
        run("bc", 1, Some(3)),
        (proptest::collection::vec("[a-c]{1,2}", 1..3), any::<proptest::sample::Index>()).prop_map(
            |(choices, index)| {
                let text = index.get(&choices).clone();
                (Part::OneOf(choices), text)
            }
        ),
    ]
}

fn sequence() -> impl Strategy<Value = (Vec<Part>, String)> {
    proptest::collection::vec(part_and_text(), 1..4).prop_map(|list| {
        (
            list.iter().map(|(part, _)| part.clone()).collect(),
            list.iter().map(|(_, text)| text.as_str()).collect(),
        )
    })
}

fn single(text: &str) -> Texts {
    Texts::new(vec![Part::Literal(text.to_owned())])
}

/// All ways to cut `text` into the parts, by trying: the slow and obvious answer.
fn ways(parts: &[Part], text: &str) -> usize {
    let Some((first, rest)) = parts.split_first() else { return usize::from(text.is_empty()) };
    (0..=text.len())
        .filter(|cut| {
            let head = &text[..*cut];
            match first {
                Part::Literal(literal) => head == literal,
                Part::OneOf(choices) => choices.iter().any(|choice| choice == head),
                Part::Run { chars, min, max } => {
                    head.len() >= *min
                        && max.is_none_or(|max| head.len() <= max)
                        && head.chars().all(|c| chars.contains(c))
                }
            }
        })
        .map(|cut| ways(rest, &text[cut..]))
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn a_text_made_from_the_parts_is_in_the_set((parts, text) in sequence()) {
        let set = Texts::new(parts);
        prop_assert!(set.contains(&text));
        prop_assert!(text.is_empty() || set.common(&single(&text)).is_some());
        let range = Range { low: Some(set.floor()), high: Some(set.ceiling()) };
        prop_assert!(text.is_empty() || single(&text).common_in_range(&range).is_some(), "{:?}", range);
    }

    #[test]
    fn a_text_is_in_the_set_exactly_if_it_can_be_cut_into_the_parts((parts, _) in sequence(), text in "[a-c#]{1,6}") {
        let can = ways(&parts, &text) > 0;
        let set = Texts::new(parts);
        prop_assert_eq!(set.contains(&text), can);
        prop_assert_eq!(set.common(&single(&text)).is_some(), can);
    }

    #[test]
    fn an_example_of_two_ways_has_two_ways((parts, text) in sequence()) {
        match Texts::new(parts.clone()).read_in_two_ways() {
            Some(example) => prop_assert!(ways(&parts, &example) > 1, "{}", example),
            None => prop_assert!(ways(&parts, &text) <= 1, "{}", text),
        }
    }

    #[test]
    fn common_texts_are_found((parts, text) in sequence(), (others, _) in sequence()) {
        let (set, other) = (Texts::new(parts.clone()), Texts::new(others.clone()));
        match set.common(&other) {
            Some(example) => prop_assert!(ways(&parts, &example) > 0 && ways(&others, &example) > 0),
            None => prop_assert_eq!(ways(&others, &text), 0),
        }
    }

    #[test]
    fn ranges_compare_as_texts_do((parts, text) in sequence(), low in "[a-c#]{0,3}", high in "[a-c#]{0,3}") {
        let range = Range { low: Some(low.clone()), high: Some(high.clone()) };
        let inside = text >= low && (text <= high || text.starts_with(&high));
        if inside {
            prop_assert!(Texts::new(parts.clone()).common_in_range(&range).is_some() || text.is_empty());
        }
        if let Some(example) = Texts::new(parts).common_in_range(&range) {
            prop_assert!(example >= low && (example <= high || example.starts_with(&high)));
        }
    }
}
