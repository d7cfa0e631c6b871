//! Statements: what a line of a script asks for.
//!
//! `PutItem {TableName: "Orders", ...}` is an exact request. The rest is short for one:
//!
//! ```text
//! table Orders pk:S sk:N gsi byDay(day:S, at:S) lsi byAge(age:N) keys stream NEW_IMAGE
//! put {pk:"a", sk:1} if attribute_not_exists(pk) return ALL_OLD failure ALL_OLD capacity TOTAL metrics
//! get {pk:"a", sk:1} project a, b[0] consistent capacity TOTAL
//! update {pk:"a", sk:1} SET a = 1 if b > 2 return ALL_NEW
//! delete {pk:"a", sk:1} if ... return ...
//! query pk = "a" filter open = true index byDay limit 1 from {...} project ... select COUNT reverse consistent
//! query #day = "monday" index byDay         (`#` before a name that is a reserved word, such as `day`)
//! scan filter ... segment 0/2 ...
//! batch get {pk:"a"} {pk:"b"} project a
//! batch write            transact                transact get
//!   put {...}              put {...} if ...        get {...} project a
//!   delete {...}           check {...} if ...
//! use Orders                                (the table that follows; `in Orders put {...}` for one statement)
//! do UpdateTable {...}                      (shows an answer only if it is an error)
//! keep TableDescription.LatestStreamArn as stream       (of the last answer; later `$stream`)
//! for n 1..30 put {pk:"a", sk:$n}
//! drop Orders    settle Orders    settle backup $backup    advance 600 seconds    needs an empty database    raw PutItem {"TableName":
//! ```

use crate::expression::Substitutes;
use crate::json::{Json, Kept, Range, Reader};
use crate::value;

/// What a statement asks for.
pub(crate) enum Statement {
    /// A request.
    Call { operation: String, body: String, shown: Shown },
    /// A new table; waits until it is active.
    Table { request: Json },
    /// Deletes a table and waits until it is gone.
    Drop { table: String },
    /// Waits until a table and its indexes are active.
    Settle { table: String },
    /// Waits until a backup is there.
    SettleBackup { arn: String },
    /// Statements without a table of their own are about this one.
    Use { table: String },
    /// Keeps a part of the last answer.
    Keep { path: String, name: String },
    /// Moves the clock.
    Advance { seconds: i64 },
    /// What a database must have for this script to make sense.
    Needs(Need),
}

/// What a script shows of an answer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shown {
    All,
    /// Not that there was nothing to answer.
    Something,
    /// Only that it went wrong.
    Errors,
}

/// What a script may need.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Need {
    EmptyDatabase,
    Clock,
}

/// What statements are read with.
pub(crate) struct Context<'a> {
    pub(crate) table: &'a str,
    pub(crate) kept: &'a Kept,
}

/// Reads a statement; with `for`, several.
pub(crate) fn read(text: &str, context: &Context<'_>) -> Result<Vec<Statement>, String> {
    let Some(range) = Range::read(text) else {
        return read_one(text, context).map(|statement| vec![statement]);
    };
    let mut statements = Vec::new();
    for number in range.numbers() {
        let mut kept = context.kept.clone();
        kept.insert(range.name.clone(), Json::Number(number));
        statements.push(read_one(&text[range.length..], &Context { table: context.table, kept: &kept })?);
    }
    Ok(statements)
}

fn read_one(text: &str, context: &Context<'_>) -> Result<Statement, String> {
    let (word, rest) = split_word(text);
    if word.starts_with(|c: char| c.is_ascii_uppercase()) {
        let mut reader = Reader::new(rest, context.kept);
        let body = if rest.trim().is_empty() { Json::Map(Vec::new()) } else { reader.value()? };
        end(&mut reader)?;
        return Ok(Statement::Call { operation: word.to_owned(), body: body.strict(), shown: Shown::All });
    }
    match word {
        "do" => match read_one(rest, context)? {
            Statement::Call { operation, body, .. } => {
                Ok(Statement::Call { operation, body, shown: Shown::Errors })
            }
            other => Ok(other),
        },
        "in" => {
            let (table, rest) = split_word(rest);
            read_one(rest, &Context { table, kept: context.kept })
        }
        "table" => table(rest).map(|request| Statement::Table { request }),
        "drop" => Ok(Statement::Drop { table: rest.to_owned() }),
        "settle" => match rest.strip_prefix("backup ") {
            Some(arn) => {
                let mut reader = Reader::new(arn, context.kept);
                let arn = reader.value()?.as_text().unwrap_or_default().to_owned();
                Ok(Statement::SettleBackup { arn })
            }
            None => Ok(Statement::Settle { table: rest.to_owned() }),
        },
        "use" => Ok(Statement::Use { table: rest.to_owned() }),
        "keep" => {
            let (path, name) = rest.split_once(" as ").ok_or("keep what as what?")?;
            Ok(Statement::Keep { path: path.to_owned(), name: name.to_owned() })
        }
        "advance" => {
            let seconds =
                rest.trim_end_matches(" seconds").parse().map_err(|_| "advance how many seconds?")?;
            Ok(Statement::Advance { seconds })
        }
        "needs" if rest == "an empty database" => Ok(Statement::Needs(Need::EmptyDatabase)),
        "needs" if rest == "a clock" => Ok(Statement::Needs(Need::Clock)),
        "raw" => {
            let (operation, body) = split_word(rest);
            Ok(Statement::Call { operation: operation.to_owned(), body: body.to_owned(), shown: Shown::All })
        }
        _ => request(word, rest, context).map(|(operation, body)| Statement::Call {
            operation: operation.to_owned(),
            body: body.strict(),
            shown: Shown::Something,
        }),
    }
}

fn request(word: &str, rest: &str, context: &Context<'_>) -> Result<(&'static str, Json), String> {
    match word {
        "put" => Ok(("PutItem", put("Item", rest, context)?)),
        "get" => Ok(("GetItem", put("Key", rest, context)?)),
        "update" => Ok(("UpdateItem", put("Key", rest, context)?)),
        "delete" => Ok(("DeleteItem", put("Key", rest, context)?)),
        "query" => Ok(("Query", read_items("KeyConditionExpression", rest, context)?)),
        "scan" => Ok(("Scan", read_items("", rest, context)?)),
        "batch" if rest.starts_with("get") => Ok(("BatchGetItem", batch_get(&rest[3..], context)?)),
        "batch" if rest.starts_with("write") => Ok(("BatchWriteItem", batch_write(&rest[5..], context)?)),
        "transact" if rest.starts_with("get") => Ok(("TransactGetItems", transact(&rest[3..], context)?)),
        "transact" => Ok(("TransactWriteItems", transact(rest, context)?)),
        _ => Err(format!("not a statement: {word}")),
    }
}

/// One item or key, then clauses. What stands between is an update expression.
fn put(member: &str, text: &str, context: &Context<'_>) -> Result<Json, String> {
    let mut reader = Reader::new(text, context.kept);
    let item = value::item(&reader.value()?)?;
    let mut request = Json::map([("TableName", Json::text(context.table)), (member, item)]);
    clauses("UpdateExpression", reader.rest(), &mut request, context)?;
    Ok(request)
}

fn read_items(first: &'static str, text: &str, context: &Context<'_>) -> Result<Json, String> {
    let mut request = Json::map([("TableName", Json::text(context.table))]);
    clauses(first, text, &mut request, context)?;
    Ok(request)
}

fn batch_get(text: &str, context: &Context<'_>) -> Result<Json, String> {
    let mut reader = Reader::new(text, context.kept);
    let mut keys = Vec::new();
    reader.space();
    while reader.rest().starts_with('{') {
        keys.push(value::item(&reader.value()?)?);
        reader.space();
    }
    let mut asked = Json::map([("Keys", Json::List(keys))]);
    clauses("", reader.rest(), &mut asked, context)?;
    let mut request = Json::Map(Vec::new());
    move_member("ReturnConsumedCapacity", &mut asked, &mut request);
    request.set("RequestItems", Json::Map(vec![(context.table.to_owned(), asked)]));
    Ok(request)
}

fn batch_write(text: &str, context: &Context<'_>) -> Result<Json, String> {
    let (options, actions) = actions(text);
    let mut tables: Vec<(String, Json)> = Vec::new();
    for action in actions {
        let (table, word, rest) = action_of(&action, context);
        let (kind, member) = if word == "put" { ("PutRequest", "Item") } else { ("DeleteRequest", "Key") };
        let mut asked = put(member, rest, context)?;
        asked = Json::map([(member, asked.get(member).cloned().unwrap_or(Json::Null))]);
        let write = Json::map([(kind, asked)]);
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, Json::List(writes))) => writes.push(write),
            _ => tables.push((table, Json::List(vec![write]))),
        }
    }
    let mut request = Json::map([("RequestItems", Json::Map(tables))]);
    clauses("", options, &mut request, context)?;
    Ok(request)
}

fn transact(text: &str, context: &Context<'_>) -> Result<Json, String> {
    let (options, actions) = actions(text);
    let mut items = Vec::new();
    for action in actions {
        let (table, word, rest) = action_of(&action, context);
        let (kind, member) = match word.as_str() {
            "put" => ("Put", "Item"),
            "update" => ("Update", "Key"),
            "delete" => ("Delete", "Key"),
            "check" => ("ConditionCheck", "Key"),
            "get" => ("Get", "Key"),
            other => return Err(format!("not an action: {other}")),
        };
        items.push(Json::map([(kind, put(member, rest, &Context { table: &table, kept: context.kept })?)]));
    }
    let mut request = Json::map([("TransactItems", Json::List(items))]);
    clauses("", options, &mut request, context)?;
    Ok(request)
}

/// The first line, and the indented ones below it.
fn actions(text: &str) -> (&str, Vec<String>) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut actions: Vec<String> = Vec::new();
    for line in rest.lines() {
        match actions.last_mut() {
            Some(last) if line.starts_with("    ") => {
                last.push('\n');
                last.push_str(line);
            }
            _ => actions.push(line.trim().to_owned()),
        }
    }
    (first, actions)
}

/// The table, verb and rest of an action.
fn action_of<'a>(action: &'a str, context: &Context<'_>) -> (String, String, &'a str) {
    let (word, rest) = split_word(action);
    if word != "in" {
        return (context.table.to_owned(), word.to_owned(), rest);
    }
    let (table, rest) = split_word(rest);
    let (word, rest) = split_word(rest);
    (table.to_owned(), word.to_owned(), rest)
}

/// Clauses and the members they stand for.
const CLAUSES: &[(&str, &str)] = &[
    ("if", "ConditionExpression"),
    ("filter", "FilterExpression"),
    ("project", "ProjectionExpression"),
    ("return", "ReturnValues"),
    ("failure", "ReturnValuesOnConditionCheckFailure"),
    ("capacity", "ReturnConsumedCapacity"),
    ("metrics", "ReturnItemCollectionMetrics"),
    ("consistent", "ConsistentRead"),
    ("reverse", "ScanIndexForward"),
    ("index", "IndexName"),
    ("limit", "Limit"),
    ("select", "Select"),
    ("from", "ExclusiveStartKey"),
    ("segment", "Segment"),
    ("token", "ClientRequestToken"),
];

/// Reads clauses into a request. What stands before the first is the member `first`.
fn clauses(first: &'static str, text: &str, request: &mut Json, context: &Context<'_>) -> Result<(), String> {
    let mut substitutes = Substitutes::default();
    for (member, text) in split_clauses(first, text) {
        let text = text.trim();
        let value = match member {
            "" | "UpdateExpression" if text.is_empty() => continue,
            "ConsistentRead" => Json::Bool(text != "false"),
            "ScanIndexForward" => Json::Bool(false),
            "ReturnItemCollectionMetrics" => Json::text("SIZE"),
            "Limit" => Json::Number(text.to_owned()),
            "Segment" => {
                let (segment, total) = text.split_once('/').ok_or("segment which/of how many?")?;
                request.set("TotalSegments", Json::Number(total.to_owned()));
                Json::Number(segment.to_owned())
            }
            "ExclusiveStartKey" => value::item(&Reader::new(text, context.kept).value()?)?,
            _ if member.ends_with("Expression") => Json::Text(substitutes.bind(text, context.kept)?),
            "" => return Err(format!("what is `{text}`?")),
            _ => Json::text(text),
        };
        request.set(member, value);
    }
    substitutes.add_to(request);
    Ok(())
}

/// Splits a text at the words that begin clauses, outside of quotes and brackets.
fn split_clauses<'a>(first: &'static str, text: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    let (mut member, mut start) = (first, 0);
    let (mut depth, mut quoted, mut escaped, mut word_start) = (0_i32, false, false, 0);
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if quoted {
            quoted = escaped || character != '"';
            escaped = character == '\\' && !escaped;
            word_start = at + 1;
            continue;
        }
        match character {
            '"' => quoted = true,
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if character.is_alphanumeric() || character == '_' {
            continue;
        }
        let word = &text[word_start.min(at)..at];
        let is_bare = !text[..word_start.min(at)].ends_with(['#', ':', '.']);
        if let Some((_, clause)) = CLAUSES.iter().find(|(name, _)| *name == word)
            && depth == 0
            && is_bare
            && character.is_whitespace()
        {
            found.push((member, &text[start..word_start]));
            (member, start) = (clause, at);
        }
        word_start = at + character.len_utf8();
    }
    found.push((member, &text[start..]));
    found
}

fn move_member(name: &str, from: &mut Json, to: &mut Json) {
    if let (Some(value), Json::Map(members)) = (from.get(name).cloned(), &mut *from) {
        members.retain(|(member, _)| member != name);
        to.set(name, value);
    }
}

/// `Orders pk:S sk:N gsi byDay(day:S, at:S) lsi byAge(age:N) keys include(a, b) stream NEW_IMAGE units 5 5`.
fn table(text: &str) -> Result<Json, String> {
    let words = table_words(text);
    let mut words = words.iter().map(String::as_str).peekable();
    let name = words.next().ok_or("which table?")?;
    let mut attributes = Attributes::default();
    let mut roles = ["HASH", "RANGE"].into_iter();
    let mut keys = Vec::new();
    while let Some((name, kind)) = words.peek().and_then(|word| word.split_once(':')) {
        keys.push(key_element(
            attributes.define(name, kind),
            roles.next().ok_or("a table has two keys at most")?,
        ));
        words.next();
    }
    let partition = keys.first().cloned().ok_or("which key?")?;
    let mut request = Json::map([("TableName", Json::text(name)), ("KeySchema", Json::List(keys))]);
    let (mut global, mut local) = (Vec::new(), Vec::new());
    let mut provisioned = false;
    while let Some(word) = words.next() {
        match word {
            "gsi" | "lsi" => {
                let index = words.next().ok_or("which index?")?;
                let projection = words.next_if(|word| *word == "keys" || word.starts_with("include("));
                let index =
                    self::index(index, projection, (word == "lsi").then_some(&partition), &mut attributes)?;
                if word == "gsi" { global.push(index) } else { local.push(index) }
            }
            "stream" => {
                let view = words.next().ok_or("which view?")?;
                let stream = [("StreamEnabled", Json::Bool(true)), ("StreamViewType", Json::text(view))];
                request.set("StreamSpecification", Json::map(stream));
            }
            "units" => {
                let mut units =
                    || words.next().map(|units| Json::Number(units.to_owned())).ok_or("how many units?");
                let units = [("ReadCapacityUnits", units()?), ("WriteCapacityUnits", units()?)];
                request.set("ProvisionedThroughput", Json::map(units));
                provisioned = true;
            }
            other => return Err(format!("what is `{other}` of a table?")),
        }
    }
    request.set("AttributeDefinitions", Json::List(attributes.0));
    request.set("BillingMode", Json::text(if provisioned { "PROVISIONED" } else { "PAY_PER_REQUEST" }));
    if !global.is_empty() {
        request.set("GlobalSecondaryIndexes", Json::List(global));
    }
    if !local.is_empty() {
        request.set("LocalSecondaryIndexes", Json::List(local));
    }
    Ok(request)
}

/// Words, where brackets hold together what is inside.
fn table_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0);
    for character in text.chars().chain([' ']) {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if !character.is_whitespace() {
            word.push(character);
        } else if depth == 0 && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    words
}

/// Attribute definitions, each once.
#[derive(Default)]
struct Attributes(Vec<Json>);

impl Attributes {
    fn define<'a>(&mut self, name: &'a str, kind: &str) -> &'a str {
        let definition =
            Json::map([("AttributeName", Json::text(name)), ("AttributeType", Json::text(kind))]);
        if !self.0.contains(&definition) {
            self.0.push(definition);
        }
        name
    }
}

fn key_element(name: &str, role: &str) -> Json {
    Json::map([("AttributeName", Json::text(name)), ("KeyType", Json::text(role))])
}

/// `byDay(day:S, at:S)`; several partition attributes are joined: `byDay(day:S+shop:S, at:S)`.
fn index(
    text: &str,
    projection: Option<&str>,
    partition: Option<&Json>,
    attributes: &mut Attributes,
) -> Result<Json, String> {
    let (name, keys) = text.trim_end_matches(')').split_once('(').ok_or("which keys has the index?")?;
    let mut elements: Vec<Json> = partition.into_iter().cloned().collect();
    for (place, part) in keys.split(',').enumerate() {
        let role = if place == 0 && partition.is_none() { "HASH" } else { "RANGE" };
        for key in part.split('+') {
            let (name, kind) = key.split_once(':').ok_or("which type has the key?")?;
            elements.push(key_element(attributes.define(name, kind), role));
        }
    }
    let projection = match projection {
        None => Json::map([("ProjectionType", Json::text("ALL"))]),
        Some("keys") => Json::map([("ProjectionType", Json::text("KEYS_ONLY"))]),
        Some(include) => {
            let names =
                include.trim_start_matches("include(").trim_end_matches(')').split(',').map(Json::text);
            Json::map([
                ("ProjectionType", Json::text("INCLUDE")),
                ("NonKeyAttributes", Json::List(names.collect())),
            ])
        }
    };
    Ok(Json::map([
        ("IndexName", Json::text(name)),
        ("KeySchema", Json::List(elements)),
        ("Projection", projection),
    ]))
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let rest = &text[end..];
    (&text[..end], if rest.starts_with('\n') { rest } else { rest.trim_start_matches(' ') })
}

fn end(reader: &mut Reader<'_>) -> Result<(), String> {
    reader.space();
    if reader.rest().is_empty() { Ok(()) } else { Err(format!("what is `{}`?", reader.rest())) }
}
