//! "Did you mean": the nearest of the known names.

/// The known name that was probably meant, if one is near enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    let allowed = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        if candidate == name || candidate.len().abs_diff(name.len()) > 32 {
            continue;
        }
        let part = candidate.rsplit('.').next().unwrap_or(candidate);
        let is_end = name.strip_suffix(candidate).is_some_and(|before| before.ends_with('.'));
        let distance = if fold(candidate) == folded || part == name || is_end {
            0
        } else {
            distance(&folded, &fold(candidate))
        };
        // Of several ends of a path the longest says most.
        let better = best.is_none_or(|(least, other)| {
            distance < least || (is_end && distance == least && candidate.len() > other.len())
        });
        if distance <= allowed && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Names that differ only in case and in `-`, `_` are the same to a reader.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).take(64).collect()
}

/// How many letters must be changed, added or removed to come from one text to the other.
fn distance(left: &str, right: &str) -> usize {
    let right = right.chars().collect::<Vec<_>>();
    let mut row = (0..=right.len()).collect::<Vec<_>>();
    for (index, a) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (b, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(a != *b);
            diagonal = *cell;
            before = changed.min(*cell + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(nearest("stauts", ["status", "stage"]), Some("status"));
        assert_eq!(nearest("sort_key", ["partition-key", "sort-key"]), Some("sort-key"));
        assert_eq!(nearest("headers.audiences", ["audiences", "sender"]), Some("audiences"));
        assert_eq!(nearest("headers.audiences.kind", ["kind", "audiences.kind"]), Some("audiences.kind"));
        assert_eq!(nearest("weather", ["status", "stage"]), None);
    }
}
