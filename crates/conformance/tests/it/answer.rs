//! Answers as scripts show them: complete, compact, and without what differs from run to run (times, ids, iterators).

use crate::json::{Json, Kept, write_text};
use crate::value::shorten;

/// Lines longer than this are broken.
const WIDTH: usize = 110;
/// A text of one character repeated more often than this is written as `"x" * 400`.
const RUN: usize = 24;

/// An answer: whether it is a reply or an error, and its body.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) body: Json,
}

impl Answer {
    /// The name of the exception of an error, without its namespace.
    pub(crate) fn exception(&self) -> &str {
        let name = self.body.get("__type").and_then(Json::as_text).unwrap_or("no type");
        name.rsplit('#').next().unwrap_or(name)
    }

    /// The words of an error.
    pub(crate) fn message(&self) -> &str {
        let member = self.body.get("message").or_else(|| self.body.get("Message"));
        member.and_then(Json::as_text).unwrap_or("")
    }

    /// The answer as lines.
    pub(crate) fn lines(&self, operation: &str, kept: &Kept) -> Vec<String> {
        if self.is_error {
            self.error_lines(kept)
        } else {
            reply_lines(operation, &masked(&shorten(&self.body), kept))
        }
    }

    fn error_lines(&self, kept: &Kept) -> Vec<String> {
        let mut words = String::new();
        write_text(&mask_text("", self.message(), kept), &mut words);
        let words = words[1..words.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\");
        let mut lines = vec![format!("{}: {words}", self.exception()).trim_end_matches(": ").to_owned()];
        let body = masked(&shorten(&self.body), kept);
        if let Some(item) = body.get("Item") {
            lines.push(format!("item: {}", one_line(item)));
        }
        if let Some(Json::List(reasons)) = body.get("CancellationReasons") {
            for (index, reason) in reasons.iter().enumerate() {
                let code = reason.get("Code").and_then(Json::as_text).unwrap_or("no code");
                let words = reason.get("Message").and_then(Json::as_text);
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                let item = reason.get("Item").map(|item| format!("    item: {}", one_line(item)));
                lines.push(format!("reason {}: {code}{words}{}", index + 1, item.unwrap_or_default()));
            }
        }
        lines
    }
}

fn reply_lines(operation: &str, body: &Json) -> Vec<String> {
    let Json::Map(members) = body else { return broken("", body, "") };
    let mut lines = Vec::new();
    let mut summary = Vec::new();
    if operation == "GetItem" && body.get("Item").is_none() {
        summary.push("item: none".to_owned());
    }
    for (name, value) in members {
        match (name.as_str(), value) {
            ("Items" | "Records", Json::List(items)) if items.is_empty() => {
                summary.push(format!("{}: none", name.to_lowercase()));
            }
            ("Items", Json::List(items)) => lines.extend(items.iter().map(one_line)),
            ("Records", Json::List(records)) => lines.extend(records.iter().map(record)),
            ("Count", _) => summary.push(format!("count: {}", one_line(value))),
            ("ScannedCount", _) => summary.push(format!("scanned: {}", one_line(value))),
            _ => {}
        }
    }
    for (name, value) in members {
        match (name.as_str(), value) {
            ("LastEvaluatedKey", _) => summary.push(format!("next: {}", one_line(value))),
            ("Item", _) if operation == "GetItem" => summary.push(format!("item: {}", one_line(value))),
            _ => {}
        }
    }
    if !summary.is_empty() {
        lines.push(summary.join("    "));
    }
    for (name, value) in sorted(members) {
        match (name.as_str(), value) {
            ("Items" | "Records", Json::List(_)) | ("Count" | "ScannedCount" | "LastEvaluatedKey", _) => {}
            ("Item", _) if operation == "GetItem" => {}
            ("ConsumedCapacity", Json::List(tables)) => lines.extend(tables.iter().map(capacity)),
            ("ConsumedCapacity", _) => lines.push(capacity(value)),
            _ => lines.extend(broken(&label(name), value, "")),
        }
    }
    if lines.is_empty() { vec!["ok".to_owned()] } else { lines }
}

/// `INSERT {pk:"a"}    new: {n:1, pk:"a"}    NEW_IMAGE, 9 bytes`; what is the same for all records is shown where it is not.
fn record(record: &Json) -> String {
    let text = |json: Option<&Json>| json.map(one_line).unwrap_or_default().trim_matches('"').to_owned();
    let change = record.get("dynamodb").cloned().unwrap_or(Json::Null);
    let mut parts = vec![format!("{} {}", text(record.get("eventName")), text(change.get("Keys")))];
    for (name, image) in [("new", "NewImage"), ("old", "OldImage")] {
        parts.extend(change.get(image).map(|image| format!("{name}: {}", one_line(image))));
    }
    parts.push(format!("{}, {} bytes", text(change.get("StreamViewType")), text(change.get("SizeBytes"))));
    parts.extend(record.get("userIdentity").map(|identity| format!("by: {}", one_line(identity))));
    let usual = [("eventSource", "aws:dynamodb"), ("eventVersion", "1.1"), ("awsRegion", "<region>")];
    for (name, value) in usual {
        if text(record.get(name)) != value {
            parts.push(format!("{name}: {}", text(record.get(name))));
        }
    }
    for name in ["SequenceNumber", "ApproximateCreationDateTime"] {
        if change.get(name).is_none() {
            parts.push(format!("no {name}"));
        }
    }
    parts.join("    ")
}

/// `capacity: Orders 3 (write 3) = table 1, gsi byDay 2`.
fn capacity(consumed: &Json) -> String {
    let units = |json: &Json| {
        let member = |name| json.get(name).map(one_line);
        let mut text = member("CapacityUnits").unwrap_or_else(|| "no units".to_owned());
        for (kind, member) in [("read", member("ReadCapacityUnits")), ("write", member("WriteCapacityUnits"))]
        {
            if let Some(units) = member {
                text = format!("{text} ({kind} {units})");
            }
        }
        text
    };
    let mut parts = Vec::new();
    parts.extend(consumed.get("Table").map(|table| format!("table {}", units(table))));
    for (kind, member) in [("lsi", "LocalSecondaryIndexes"), ("gsi", "GlobalSecondaryIndexes")] {
        if let Some(Json::Map(indexes)) = consumed.get(member) {
            parts.extend(
                sorted(indexes).into_iter().map(|(name, index)| format!("{kind} {name} {}", units(index))),
            );
        }
    }
    let table = consumed.get("TableName").and_then(Json::as_text).unwrap_or("no table");
    let parts = if parts.is_empty() { String::new() } else { format!(" = {}", parts.join(", ")) };
    format!("capacity: {table} {}{parts}", units(consumed))
}

fn sorted(members: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members
}

/// A value on one line, or on several where it is too long.
fn broken(label: &str, value: &Json, indent: &str) -> Vec<String> {
    let line = format!("{indent}{label}{}", one_line(value));
    if line.len() <= WIDTH {
        return vec![line];
    }
    let deeper = format!("{indent}  ");
    let inner: Vec<String> = match value {
        Json::Map(members) => sorted(members)
            .into_iter()
            .flat_map(|(name, value)| broken(&crate::answer::label(name), value, &deeper))
            .collect(),
        Json::List(elements) => elements.iter().flat_map(|element| broken("- ", element, &deeper)).collect(),
        _ => return vec![line],
    };
    let mut inner = inner.into_iter();
    let mut lines = match label {
        // The first member of an element stands beside its dash.
        "- " => inner.next().map(|first| format!("{indent}- {}", first.trim_start())).into_iter().collect(),
        _ => vec![format!("{indent}{}", label.trim_end())],
    };
    lines.extend(inner);
    lines
}

/// The name of a member before its value. DynamoDB's own names begin with a capital letter and stand apart from their values.
fn label(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.#:".contains(c));
    let mut text = String::new();
    if plain {
        text.push_str(name);
    } else {
        write_text(name, &mut text);
    }
    text.push_str(if name.starts_with(|c: char| c.is_ascii_uppercase()) { ": " } else { ":" });
    text
}

/// A value in short on one line.
fn one_line(value: &Json) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(text) => text.strip_suffix(".0").unwrap_or(text).to_owned(),
        Json::Text(text) => quoted(text),
        Json::Bytes(text) => format!("b{}", quoted(text)),
        Json::List(elements) => format!("[{}]", join(elements.iter().map(one_line).collect())),
        Json::Set(elements) => format!("{{{}}}", join(elements.iter().map(one_line).collect())),
        Json::Map(members) => {
            let members = sorted(members).into_iter().map(|(name, value)| label(name) + &one_line(value));
            format!("{{{}}}", join(members.collect()))
        }
    }
}

fn quoted(text: &str) -> String {
    if text.starts_with('<') && text.ends_with('>') || text.starts_with('$') {
        return text.to_owned();
    }
    let mut out = String::new();
    let first = text.chars().next().unwrap_or_default();
    if text.len() > RUN && text.chars().all(|character| character == first) {
        write_text(&first.to_string(), &mut out);
        return format!("{out} * {}", text.chars().count());
    }
    write_text(text, &mut out);
    out
}

/// The answer without what differs from run to run.
fn masked(json: &Json, kept: &Kept) -> Json {
    match json {
        Json::Map(members) => Json::Map(
            members.iter().map(|(name, value)| (name.clone(), mask_member(name, value, kept))).collect(),
        ),
        Json::List(elements) => Json::List(elements.iter().map(|element| masked(element, kept)).collect()),
        Json::Text(text) => Json::Text(mask_text("", text, kept)),
        other => other.clone(),
    }
}

fn mask_member(name: &str, value: &Json, kept: &Kept) -> Json {
    match value {
        Json::Number(_) if name.ends_with("DateTime") => Json::text("<time>"),
        Json::Text(text) => Json::Text(mask_text(name, text, kept)),
        other => masked(other, kept),
    }
}

fn mask_text(member: &str, text: &str, kept: &Kept) -> String {
    let is_iterator = member.ends_with("ShardIterator");
    if let Some((name, _)) = kept.iter().find(|(_, value)| !is_iterator && value.as_text() == Some(text)) {
        return format!("${name}");
    }
    match member {
        "TableId" | "eventID" => "<id>".to_owned(),
        "LatestStreamLabel" | "StreamLabel" => "<label>".to_owned(),
        "ShardIterator" | "NextShardIterator" => "<iterator>".to_owned(),
        "ShardId" | "LastEvaluatedShardId" => "<shard>".to_owned(),
        "SequenceNumber" | "StartingSequenceNumber" | "EndingSequenceNumber" => {
            "<sequence number>".to_owned()
        }
        "NextToken" => "<token>".to_owned(),
        "awsRegion" => "<region>".to_owned(),
        _ => mask_arns(text),
    }
}

/// Regions, accounts and labels of streams, backups and exports in ARNs, wherever they stand in a text.
fn mask_arns(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("arn:aws:") {
        out.push_str(&rest[..start]);
        let arn = &rest[start..];
        let end = arn.find(|c: char| !(c.is_alphanumeric() || ":/_.-".contains(c))).unwrap_or(arn.len());
        out.push_str(&mask_arn(&arn[..end]));
        rest = &arn[end..];
    }
    out + rest
}

fn mask_arn(arn: &str) -> String {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let [_, _, service, _, _, resource] = parts.as_slice() else { return arn.to_owned() };
    let mut labelled = ["/stream/", "/backup/", "/export/"].into_iter();
    let labelled = labelled.find_map(|kind| Some((resource.split_once(kind)?.0, kind)));
    let resource = match labelled {
        Some((table, kind)) => format!("{table}{kind}<label>"),
        None if *service == "kms" => "key/<id>".to_owned(),
        None => (*resource).to_owned(),
    };
    format!("arn:aws:{service}:<region>:<account>:{resource}")
}
