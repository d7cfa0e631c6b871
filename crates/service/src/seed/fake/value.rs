//! Made-up values that look like those of the attribute's name and fit its type.

use design::{Attribute, Entity, Given, Precision, TimeRole, Type};
use dynamo::{Item, Number, Value};

use super::chance::Chance;

const FIRST_NAMES: &[&str] = &[
    "Ada", "Ben", "Chiara", "Dmitri", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jonas", "Kaya", "Lena",
    "Mia", "Noor", "Otis", "Priya", "Ravi", "Sofia", "Tomas", "Yuki",
];
const LAST_NAMES: &[&str] = &[
    "Almeida", "Baker", "Costa", "Dubois", "Eriksen", "Fischer", "Garcia", "Haddad", "Ivanova", "Jensen",
    "Kim", "Lopez", "Moreau", "Nakamura", "Okafor", "Petrov", "Rossi", "Schmidt", "Tanaka", "Weber",
];
const WORDS: &[&str] = &[
    "amber",
    "autumn",
    "bridge",
    "candle",
    "canyon",
    "cedar",
    "cloud",
    "copper",
    "coral",
    "desert",
    "dune",
    "ember",
    "falcon",
    "fjord",
    "forest",
    "garden",
    "glacier",
    "harbour",
    "hollow",
    "island",
    "juniper",
    "lantern",
    "lemon",
    "lighthouse",
    "marble",
    "meadow",
    "mirror",
    "morning",
    "mountain",
    "night",
    "ocean",
    "orchard",
    "paper",
    "pebble",
    "raven",
    "river",
    "saffron",
    "shadow",
    "silver",
    "storm",
    "thunder",
    "tide",
    "valley",
    "velvet",
    "violet",
    "willow",
    "winter",
    "wolf",
];

/// Makes up values.
pub(super) struct Values<'a> {
    pub(super) chance: &'a mut Chance,
    pub(super) now_milliseconds: i64,
    /// Which item of its entity it is.
    pub(super) number: u64,
    pub(super) delimiters: &'a str,
}

impl Values<'_> {
    /// A value for an attribute; none if it is made by itself, or left out.
    pub(super) fn attribute(
        &mut self,
        entity: &Entity,
        attribute: &Attribute,
        is_own: bool,
    ) -> Option<Value> {
        let name = attribute.name.value.as_str();
        let in_key = entity.keys().flat_map(design::EntityKey::slots).any(|slot| slot.path == name);
        if attribute.from.is_some()
            || !attribute.after.is_empty()
            || (attribute.kind.is_generated() && is_own)
        {
            return None;
        }
        if matches!(attribute.kind, Type::Version | Type::Timestamp(_, TimeRole::Created | TimeRole::Updated))
        {
            return None;
        }
        // Half of the items go without what is optional, or with what is usual.
        if attribute.optional && self.chance.below(2) == 0 {
            return None;
        }
        if let Some(Given::Value(value)) = attribute.default.as_ref().map(|default| &default.value)
            && self.chance.below(2) == 0
        {
            return Some(value.clone());
        }
        let value = self.value(name, &attribute.kind, in_key);
        let most = attribute.max_bytes.unwrap_or(usize::MAX);
        (dynamo::value_size_bytes(&value) <= most).then_some(value)
    }

    fn value(&mut self, name: &str, kind: &Type, in_key: bool) -> Value {
        match kind {
            Type::OneOf(values) => {
                values.get(self.chance.index(values.len())).map_or(Value::Null, |value| value.value.clone())
            }
            Type::String | Type::Any if !in_key => Value::S(self.text(name)),
            Type::String | Type::Key | Type::Slug | Type::Any => Value::S(self.key(name)),
            Type::Number => Value::N(self.number(1_000)),
            Type::Integer | Type::Version => Value::N(self.number(100)),
            Type::Boolean => Value::Bool(self.chance.below(2) == 0),
            Type::Binary => Value::B(self.chance.below(u64::MAX).to_be_bytes().to_vec().into()),
            Type::Ulid | Type::Ksuid | Type::Uuid | Type::Time36 => Value::S(self.id(kind)),
            Type::Timestamp(precision, _) => Value::S(self.time(*precision)),
            Type::Date => {
                Value::S(self.time(Precision::Milliseconds).get(..10).unwrap_or_default().to_owned())
            }
            Type::Epoch => Value::from(self.past_milliseconds().div_euclid(1_000)),
            Type::Ttl => Value::from(self.now_milliseconds.div_euclid(1_000) + 90 * 86_400),
            Type::Map(map) => {
                let mut members = Item::new();
                for member in &map.members {
                    if !member.optional || self.chance.below(2) == 0 {
                        let value = self.value(&member.name.value, &member.kind, false);
                        let value = match &member.default {
                            Some(default) => match &default.value {
                                Given::Value(value) => value.clone(),
                                _ => value,
                            },
                            None => value,
                        };
                        members.insert(member.name.value.clone(), value);
                    }
                }
                Value::M(members)
            }
            Type::List(element) => {
                let count = 1 + self.chance.below(3);
                Value::L((0..count).map(|_| self.value(name, element, in_key)).collect())
            }
            Type::StringSet => Value::Ss((0..3).map(|_| self.chance.word(WORDS).to_owned()).collect()),
            Type::NumberSet => Value::Ns((0..3).map(|_| self.number(100)).collect()),
            Type::BinarySet => Value::Bs([self.chance.below(u64::MAX).to_be_bytes().to_vec().into()].into()),
        }
    }

    fn number(&mut self, most: u64) -> Number {
        Number::from(i64::try_from(1 + self.chance.below(most)).unwrap_or(1))
    }

    fn id(&mut self, kind: &Type) -> String {
        let mut seed = [0; 32];
        for byte in &mut seed {
            *byte = u8::try_from(self.chance.below(256)).unwrap_or(0);
        }
        crate::ids::Ids::new(&seed, self.past_milliseconds()).make(kind, 0)
    }

    /// A moment of the last 90 days.
    fn past_milliseconds(&mut self) -> i64 {
        let ago = i64::try_from(self.chance.below(90 * 86_400_000)).unwrap_or(0);
        self.now_milliseconds.saturating_sub(ago).max(0)
    }

    fn time(&mut self, precision: Precision) -> String {
        let text = design::iso_milliseconds(self.past_milliseconds());
        match precision {
            Precision::Seconds => format!("{}Z", text.get(..19).unwrap_or(&text)),
            Precision::Milliseconds | Precision::Varying => text,
        }
    }

    /// A text that can stand in a key, another one for each item.
    fn key(&mut self, name: &str) -> String {
        let name = name.to_lowercase();
        let (word, number) = (self.chance.word(WORDS), self.number);
        let text = if name.contains("mail") {
            format!("{}.{}.{number}@example.com", self.chance.word(FIRST_NAMES), self.chance.word(LAST_NAMES))
                .to_lowercase()
        } else if name.contains("slug") {
            format!("{word}-{}-{number}", self.chance.word(WORDS))
        } else if name.contains("user") || name == "uid" || name.contains("author") {
            format!("{}{number}", self.chance.word(FIRST_NAMES).to_lowercase())
        } else if name.contains("category") {
            word.to_owned()
        } else {
            format!("{word}{number}")
        };
        text.replace(|c| self.delimiters.contains(c), "")
    }

    fn text(&mut self, name: &str) -> String {
        let name = name.to_lowercase();
        let number = self.number;
        match name.as_str() {
            _ if name.contains("mail") => self.key("mail"),
            _ if name.contains("hash") => {
                format!("$2b$12${:016x}{:016x}", self.chance.below(u64::MAX), self.chance.below(u64::MAX))
            }
            _ if name.contains("url") || name.contains("uri") => {
                format!("https://example.com/{}/{number}", self.chance.word(WORDS))
            }
            _ if name.contains("token") => format!("token-{:016x}", self.chance.below(u64::MAX)),
            "name" | "displayname" | "authorname" | "sender" => {
                format!("{} {}", self.chance.word(FIRST_NAMES), self.chance.word(LAST_NAMES))
            }
            _ if name.contains("content") || name.contains("body") => self.sentences(12),
            _ if name.contains("synopsis")
                || name.contains("description")
                || name.contains("bio")
                || name.contains("prompt") =>
            {
                self.sentences(2)
            }
            "ttl" | "default" => format!("{}d", 30 + self.chance.below(60)),
            _ if name.contains("title") || name.contains("message") => self.sentence(3),
            _ => self.chance.word(WORDS).to_owned(),
        }
    }

    fn sentence(&mut self, least: u64) -> String {
        let count = least + self.chance.below(5);
        let words = (0..count).map(|_| self.chance.word(WORDS)).collect::<Vec<_>>().join(" ");
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    fn sentences(&mut self, most: u64) -> String {
        let count = 1 + self.chance.below(most);
        (0..count).map(|_| format!("{}.", self.sentence(5))).collect::<Vec<_>>().join(" ")
    }
}
