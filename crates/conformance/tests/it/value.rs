//! Attribute values in short: `"a"` is a string, `1` a number, `b"AQID"` binary, `{1, 2}` a set, `{a:1}` a map.

use crate::json::Json;

/// The DynamoDB JSON of an item written in short.
pub(crate) fn item(short: &Json) -> Result<Json, String> {
    match short {
        Json::Map(members) => Ok(Json::Map(
            members
                .iter()
                .map(|(name, short)| Ok((name.clone(), value(short)?)))
                .collect::<Result<_, String>>()?,
        )),
        other => Err(format!("not an item: {other:?}")),
    }
}

/// The DynamoDB JSON of a value written in short.
pub(crate) fn value(short: &Json) -> Result<Json, String> {
    Ok(match short {
        Json::Null => Json::map([("NULL", Json::Bool(true))]),
        Json::Bool(_) => Json::map([("BOOL", short.clone())]),
        Json::Number(text) => Json::map([("N", Json::text(text))]),
        Json::Text(_) => Json::map([("S", short.clone())]),
        Json::Bytes(text) => Json::map([("B", Json::text(text))]),
        Json::List(elements) => {
            Json::map([("L", Json::List(elements.iter().map(value).collect::<Result<_, _>>()?))])
        }
        Json::Map(_) => Json::map([("M", item(short)?)]),
        Json::Set(elements) => {
            let texts = |element: &Json| match element {
                Json::Text(text) | Json::Number(text) | Json::Bytes(text) => Ok(Json::text(text)),
                other => Err(format!("not an element of a set: {other:?}")),
            };
            let kind = match elements.first() {
                Some(Json::Text(_)) => "SS",
                Some(Json::Number(_)) => "NS",
                _ => "BS",
            };
            Json::map([(kind, Json::List(elements.iter().map(texts).collect::<Result<_, _>>()?))])
        }
    })
}

/// DynamoDB JSON in short, throughout: members that are attribute values become what they stand for. Sets are sorted, since
/// DynamoDB gives them in no order.
pub(crate) fn shorten(json: &Json) -> Json {
    match json {
        Json::Map(members) => {
            if let [(kind, inner)] = members.as_slice()
                && let Some(short) = short_value(kind, inner)
            {
                return short;
            }
            Json::Map(members.iter().map(|(name, value)| (name.clone(), shorten(value))).collect())
        }
        Json::List(elements) => Json::List(elements.iter().map(shorten).collect()),
        other => other.clone(),
    }
}

fn short_value(kind: &str, inner: &Json) -> Option<Json> {
    Some(match (kind, inner) {
        ("S", Json::Text(_)) | ("BOOL", Json::Bool(_)) => inner.clone(),
        ("N", Json::Text(text)) => Json::Number(text.clone()),
        ("B", Json::Text(text)) => Json::Bytes(text.clone()),
        ("NULL", Json::Bool(true)) => Json::Null,
        ("L", Json::List(elements)) => Json::List(elements.iter().map(shorten).collect()),
        ("M", Json::Map(members)) => {
            Json::Map(members.iter().map(|(name, value)| (name.clone(), shorten(value))).collect())
        }
        ("SS", Json::List(elements)) => sorted_set(elements, |text| Json::Text(text.to_owned())),
        ("NS", Json::List(elements)) => sorted_set(elements, |text| Json::Number(text.to_owned())),
        ("BS", Json::List(elements)) => sorted_set(elements, |text| Json::Bytes(text.to_owned())),
        _ => return None,
    })
}

fn sorted_set(elements: &[Json], short: impl Fn(&str) -> Json) -> Json {
    let mut texts: Vec<&str> = elements.iter().filter_map(Json::as_text).collect();
    texts.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    });
    Json::Set(texts.into_iter().map(short).collect())
}
