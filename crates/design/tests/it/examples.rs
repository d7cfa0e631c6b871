//! The examples of the five designs, carried out on a table in memory: plans do what designs say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dynamo::{Item, Value};
use monotable_design::{
    Action, Bound, CheckedDesign, Context, Example, ExampleKind, Given, GivenEntry, Known, Page, Pattern,
    PatternKind, Problem, Seed, Source, Type, Write, bind_get, bind_query, bind_write, check, item_key,
    logical_item, milliseconds_of, parameters, recognise, requests,
};

use crate::table::Tables;

const NOW: &str = "2024-06-01T12:00:00.000Z";

struct Run<'d> {
    design: &'d CheckedDesign,
    tables: Tables,
    now: i64,
}

fn values(entries: &[GivenEntry]) -> Item {
    let value = |entry: &GivenEntry| match &entry.value.value {
        Given::Value(value) => value.clone(),
        other => panic!("{other:?} has slots"),
    };
    entries.iter().map(|entry| (entry.name.value.clone(), value(entry))).collect()
}

fn new_id(kind: &Type, number: usize) -> String {
    match kind {
        Type::Ulid => format!("01ZZZ{number:021}"),
        Type::Ksuid => format!("{number:027}"),
        Type::Uuid => format!("00000000-0000-0000-0000-{number:012}"),
        _ => format!("{number:020}"),
    }
}

impl Run<'_> {
    fn context(&self) -> Context<'_> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        Context { variables: &NONE, now_milliseconds: self.now, new_id: &new_id }
    }

    /// Reads what must be read until there are writes, and makes them.
    fn write(&mut self, write: &Write<'_>) -> Result<(), String> {
        let mut known = Known::default();
        for _ in 0..10 {
            let bound = bind_write(self.design, write, &known, &self.context());
            match bound.map_err(|problems| words(&problems))? {
                Bound::Read(keys) => {
                    for key in keys {
                        let item = self.tables.get(&key);
                        known.item(key, item);
                    }
                }
                Bound::Ask { pattern, parameters } => {
                    let items = self.ask(self.design.pattern(&pattern).unwrap(), &parameters);
                    known.answer(pattern, parameters, items);
                }
                Bound::Write(mut writes) => {
                    let Some(request) = requests(&mut writes, None) else { return Ok(()) };
                    return self.tables.write(&request).map_err(|number| {
                        let failed = &writes[number];
                        format!("{}: {}", failed.entity, failed.otherwise.clone().unwrap_or_default())
                    });
                }
            }
        }
        panic!("{write:?} never ends")
    }

    fn seed(&mut self, seed: &Seed) {
        let write = Write::Create { entity: &seed.entity.value, attributes: values(&seed.attributes) };
        self.write(&write).unwrap_or_else(|problem| panic!("seed {}: {problem}", seed.entity.value));
    }

    fn ask(&self, pattern: &Pattern, given: &Item) -> Vec<Item> {
        let bound = match &pattern.kind {
            PatternKind::Get { .. } => bind_get(self.design, pattern, given, &self.context()),
            PatternKind::Query { .. } => {
                bind_query(self.design, pattern, given, &Page::default(), &self.context())
            }
            PatternKind::Merge { patterns, by, apply } => {
                let mut items = Vec::new();
                for name in patterns {
                    let inner = self.design.pattern(&name.value).unwrap();
                    let own = parameters(self.design, &name.value);
                    let given = given.iter().filter(|(name, _)| own.iter().any(|own| own.name == **name));
                    items.extend(
                        self.ask(inner, &given.map(|(name, value)| (name.clone(), value.clone())).collect()),
                    );
                }
                if let Some(apply) = apply {
                    // Receipts have no constant `kind`; the rest is listed.
                    let (applied, mut listed): (Vec<Item>, Vec<Item>) =
                        items.into_iter().partition(|item| !item.contains_key("sender"));
                    for item in &mut listed {
                        let on = item.get(&apply.on.value).cloned();
                        for receipt in
                            applied.iter().filter(|receipt| receipt.get(&apply.on.value) == on.as_ref())
                        {
                            for name in &apply.take {
                                item.insert(name.value.clone(), receipt[&name.value].clone());
                            }
                        }
                    }
                    items = listed;
                }
                items.sort_by(|left, right| {
                    format!("{:?}", right.get(&by.value)).cmp(&format!("{:?}", left.get(&by.value)))
                });
                return items;
            }
            PatternKind::Collect(_) => panic!("collections are asked part by part"),
        };
        let requests =
            bound.unwrap_or_else(|problems| panic!("{}: {}", pattern.name.value, words(&problems)));
        let items = requests.iter().flat_map(|request| self.tables.read(request)).collect::<Vec<_>>();
        items.iter().map(|item| self.seen(item)).collect()
    }

    /// An item as its entity sees it, with its constants.
    fn seen(&self, stored: &Item) -> Item {
        let found =
            self.design.tables.iter().find_map(|table| recognise(self.design, &table.name.value, stored));
        let entity = found.unwrap_or_else(|| panic!("{stored:?} is of no entity"));
        let mut item = logical_item(self.design, entity, stored);
        item.extend(entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone())));
        item
    }

    fn collect(&self, example: &Example, pattern: &Pattern, given: &Item) {
        let PatternKind::Collect(parts) = &pattern.kind else { unreachable!() };
        let mut found: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for part in parts {
            let inner = self.design.pattern(&part.pattern.value).unwrap();
            let own = parameters(self.design, &part.pattern.value);
            let mut rows = vec![Item::new()];
            for parameter in own {
                let with = part.with.iter().find(|entry| entry.name.value == parameter.name);
                let choices = match with.map(|entry| &entry.value.value) {
                    Some(Given::Template(template)) => {
                        let path = &template.only_slot().unwrap().path;
                        let (part, attribute) = path.split_once('.').unwrap();
                        found[part].iter().filter_map(|item| item.get(attribute).cloned()).collect()
                    }
                    Some(other) => panic!("{other:?}"),
                    None => given.get(&parameter.name).cloned().into_iter().collect::<Vec<_>>(),
                };
                rows = rows
                    .iter()
                    .flat_map(|row| {
                        choices.iter().map(|choice| {
                            let mut row = row.clone();
                            row.insert(parameter.name.clone(), choice.clone());
                            row
                        })
                    })
                    .collect();
            }
            let items = rows.iter().flat_map(|row| self.ask(inner, row)).collect();
            found.insert(part.name.value.clone(), items);
        }
        for (part, items) in &found {
            let expected = example
                .answer
                .iter()
                .flatten()
                .filter(|item| item.part.as_ref().is_some_and(|name| name.value == *part));
            let expected = expected.map(|item| values(&item.attributes)).collect::<Vec<_>>();
            assert_answer(&example.name.value, items, &expected);
        }
    }

    fn example(&mut self, example: &Example) {
        self.now = milliseconds_of(example.now.as_ref().map_or(NOW, |now| now.value.as_str())).unwrap();
        example.given.iter().for_each(|seed| self.seed(seed));
        let given = values(&example.with);
        let done = match &example.kind {
            ExampleKind::Pattern(name) => {
                let pattern = self.design.pattern(&name.value).unwrap();
                if matches!(pattern.kind, PatternKind::Collect(_)) {
                    return self.collect(example, pattern, &given);
                }
                let expected =
                    example.answer.iter().flatten().map(|item| values(&item.attributes)).collect::<Vec<_>>();
                assert_answer(&example.name.value, &self.ask(pattern, &given), &expected);
                Ok(())
            }
            ExampleKind::Operation(name) => {
                self.write(&Write::Operation { name: &name.value, inputs: given, part: None })
            }
            ExampleKind::Write(Action::Create, entity) => {
                self.write(&Write::Create { entity: &entity.value, attributes: given })
            }
            ExampleKind::Write(..) => panic!("not used by the five designs"),
        };
        match (&example.fails, done) {
            (Some(words), Err(problem)) => {
                assert!(problem.contains(&words.value), "{}: {problem}", example.name.value);
            }
            (None, Ok(())) => {}
            (_, done) => panic!("{}: {done:?}", example.name.value),
        }
        for (list, there) in [(&example.then, true), (&example.gone, false)] {
            for expected in list {
                let entity = self.design.entity(&expected.entity.value).unwrap();
                let attributes = values(&expected.attributes);
                let key = item_key(self.design, entity, &attributes, &self.context()).unwrap();
                let item = self.tables.get(&key).map(|item| logical_item(self.design, entity, &item));
                match (item, there) {
                    (Some(item), true) => assert_answer(&example.name.value, &[item], &[attributes]),
                    (None, false) => {}
                    (item, _) => {
                        panic!("{}: {} {key:?}: {item:?}", example.name.value, expected.entity.value)
                    }
                }
            }
        }
    }
}

fn words(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("{} {}", problem.name, problem.message))
        .collect::<Vec<_>>()
        .join("; ")
}

fn assert_answer(name: &str, items: &[Item], expected: &[Item]) {
    assert_eq!(items.len(), expected.len(), "{name}: {items:#?}");
    for (item, expected) in items.iter().zip(expected) {
        for (attribute, value) in expected {
            assert_eq!(item.get(attribute), Some(value), "{name}: {attribute} of {item:#?}");
        }
    }
}

fn start(design: &CheckedDesign) -> Run<'_> {
    let mut run = Run { design, tables: Tables::of(design), now: milliseconds_of(NOW).unwrap() };
    design.seeds.iter().for_each(|seed| run.seed(seed));
    run
}

fn carry_out(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../designs/{name}.toml"));
    let design = check(&Source::new(name, fs::read_to_string(path).unwrap())).design.unwrap();
    for example in &design.examples {
        start(&design).example(example);
    }
    assert!(!design.examples.is_empty());
}

#[test]
fn kefir() {
    carry_out("kefir");
}

#[test]
fn stak_inbox() {
    carry_out("stak-inbox");
}

#[test]
fn story_hub() {
    carry_out("story-hub");
}

#[test]
fn story_nodes() {
    carry_out("story-nodes");
}

#[test]
fn wavy_blog() {
    carry_out("wavy-blog");
}

#[test]
fn problems_come_all_at_once_and_change_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs/kefir.toml");
    let design = check(&Source::new("kefir", fs::read_to_string(path).unwrap())).design.unwrap();
    let mut run = start(&design);
    let attributes = Item::from([
        ("userId".to_owned(), Value::from("a#b")),
        ("status".to_owned(), Value::from("lost")),
        ("color".to_owned(), Value::from("red")),
    ]);
    let problem = run.write(&Write::Create { entity: "Batch", attributes }).unwrap_err();
    for word in [
        "userId is not a text without",
        "status is not one of",
        "name is missing",
        "color is not an attribute of Batch",
    ] {
        assert!(problem.contains(word), "{word}: {problem}");
    }
}

#[test]
fn a_value_that_could_stand_for_another_item_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs/stak-inbox.toml");
    let design = check(&Source::new("stak-inbox", fs::read_to_string(path).unwrap())).design.unwrap();
    let mut run = start(&design);
    let texts = |entries: &[(&str, &str)]| {
        entries.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect::<Item>()
    };
    let key = texts(&[
        ("tenant_key", "acme"),
        ("inbox_key", "main#m"),
        ("uid", "ada"),
        ("id", "lrg51000000000000001"),
    ]);
    let delete = Write::Delete { entity: "UserMessage", key: key.clone(), version: None };
    assert_eq!(run.write(&delete), Err("inbox_key is not a text without any of `#`".to_owned()));
    let read = Write::Operation { name: "read-message", inputs: key, part: None };
    assert_eq!(run.write(&read), Err("inbox_key is not a text without any of `#`".to_owned()));
}

#[test]
fn an_item_that_one_write_makes_twice_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs/stak-inbox.toml");
    let design = check(&Source::new("stak-inbox", fs::read_to_string(path).unwrap())).design.unwrap();
    let mut run = start(&design);
    let mut inputs = design
        .examples
        .iter()
        .find(|example| example.name.value == "publish-to-users")
        .map(|example| values(&example.with))
        .unwrap();
    inputs.insert("uids".to_owned(), Value::L(vec![Value::from("ada"), Value::from("ada")]));
    let twice = Write::Operation { name: "publish-to-users", inputs: inputs.clone(), part: None };
    assert_eq!(run.write(&twice), Err("UserMessage there is such a UserMessage already".to_owned()));
    let part = Write::Operation { name: "publish-to-users", inputs, part: Some(1..2) };
    assert_eq!(run.write(&part), Ok(()));
}
