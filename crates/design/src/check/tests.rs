use super::*;

fn codes(text: &str) -> Vec<&'static str> {
    check(&Source::new("example.toml", text)).findings.iter().map(|finding| finding.rule.code).collect()
}

fn shown(text: &str) -> String {
    let source = Source::new("example.toml", text);
    let report = check(&source);
    crate::diagnostic::text(&source, &report.findings)
}

#[test]
fn every_rule_finds_what_its_wrong_example_shows_and_nothing_else() {
    for rule in rules() {
        let mut found = codes(rule.wrong);
        found.dedup();
        assert_eq!(found, [rule.code], "{}:\n{}", rule.title, shown(rule.wrong));
    }
}

#[test]
fn every_right_example_is_without_findings() {
    for rule in rules() {
        assert!(codes(rule.right).is_empty(), "{} {}:\n{}", rule.code, rule.title, shown(rule.right));
    }
}

#[test]
fn codes_are_in_order_and_used_once() {
    let codes = rules().map(|rule| rule.code).collect::<Vec<_>>();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(codes, sorted);
}

#[test]
fn every_finding_has_a_help_and_a_sentence_without_full_stop() {
    for rule in rules() {
        for finding in check(&Source::new("example.toml", rule.wrong)).findings {
            assert!(!finding.help.is_empty(), "{}", rule.code);
            assert!(!finding.sentence.ends_with('.'), "{}", rule.code);
            assert!(!rule.why.is_empty() && rule.why.ends_with('.'), "{}", rule.code);
        }
    }
}

#[test]
fn a_warning_can_be_allowed_with_a_reason_and_an_error_cannot() {
    let hot = one_partition::RULE.wrong;
    let allowed = hot.replace("[entity.Order]\n", "[entity.Order]\nallow = { D053 = \"a small shop\" }\n");
    assert!(codes(&allowed).is_empty(), "{}", shown(&allowed));
    let allowed =
        scan::RULE.wrong.replace("[pattern.due]\n", "[pattern.due]\nallow = { D012 = \"why not\" }\n");
    assert_eq!(codes(&allowed), ["D048", "D012"], "{}", shown(&allowed));
}
