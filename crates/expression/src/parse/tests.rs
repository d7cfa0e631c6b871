use proptest::prelude::*;

use super::*;
use crate::testing::words;

fn condition(text: &str) -> String {
    match parse_condition(ExpressionKind::Filter, text) {
        Ok(tree) => tree.to_string(),
        error => words(error),
    }
}

fn update(text: &str) -> String {
    match parse_update(text) {
        Ok(tree) => tree.to_string(),
        error => words(error),
    }
}

fn projection(text: &str) -> String {
    match parse_projection(text) {
        Ok(tree) => tree.to_string(),
        error => words(error),
    }
}

#[test]
fn conditions_are_read_with_or_below_and_below_not() {
    for (text, printed) in [
        ("a=:b", "a = :b"),
        ("a = :b or c<>d and NOT e<f", "a = :b OR c <> d AND NOT e < f"),
        ("(a = :b or c >= d) AND e<=f", "(a = :b OR c >= d) AND e <= f"),
        ("(a = :b and c >= d) AND e > f", "(a = :b AND c >= d) AND e > f"),
        ("a = :b and c >= d and e > f", "a = :b AND c >= d AND e > f"),
        ("NOT (a = b)", "NOT a = b"),
        ("NOT NOT a = b", "NOT NOT a = b"),
        ("not (a=b or c=d)", "NOT (a = b OR c = d)"),
        ("a BETWEEN :x aNd :y and b iN (:x, c)", "a BETWEEN :x AND :y AND b IN (:x, c)"),
        ("(a)between(b.c[45].#d)and(:a)", "a BETWEEN b.c[45].#d AND :a"),
        ("(a.b).c = (d)[0]", "a.b.c = d[0]"),
        ("((a)) = b", "Invalid FilterExpression: The expression has redundant parentheses;"),
        ("((a) = b)", "a = b"),
        ("(((a) = b) and c = d)", "a = b AND c = d"),
        ("size ( a ) > :n", "size(a) > :n"),
        ("(size(a)) > :n", "size(a) > :n"),
        (
            "attribute_exists((a)) and attribute_not_exists(#b[0])",
            "attribute_exists(a) AND attribute_not_exists(#b[0])",
        ),
        ("begins_with(:a, b)", "begins_with(:a, b)"),
        ("#4g > :_ and #_ = a__1", "#4g > :_ AND #_ = a__1"),
        ("(contains(a, :b))", "contains(a, :b)"),
    ] {
        assert_eq!(condition(text), printed, "{text}");
    }
}

#[test]
fn syntax_errors_name_the_token_and_its_neighbours() {
    for (text, token, near) in [
        ("things are not gonna be ok", "are", "things are not"),
        ("a > 4", "4", "> 4"),
        ("a", "<EOF>", "a"),
        ("(a)", "<EOF>", ")"),
        ("a AND b = c", "AND", "a AND b"),
        ("attribute_exists(Pictures-RearView)", "-", "Pictures-RearView"),
        ("attribute_exists(\"Pictures.RearView\")", "\"", "(\"Pictures"),
        ("attribute_exists(Pictures..RearView)", ".", "..RearView"),
        ("attribute_exists(Pi#ctures.RearView)", "#ctures", "Pi#ctures."),
        ("attribute_exists(asdf[a])", "a", "[a]"),
        ("attribute_not_exists(", "<EOF>", "("),
        ("attribute_type()", ")", "()"),
        ("a in b, c", "b", "in b,"),
        ("a in b", "b", "in b"),
        ("a in ()", ")", "()"),
        ("a > between", "between", "> between"),
        ("a in (b,c,)", ")", ",)"),
        ("(a)between(b.(c.d))and(c)", "(", ".(c"),
        ("(a)between(b.c.d)and((c)", "<EOF>", ")"),
        ("#$.b > a", "#", "#$"),
        ("a > :things.stuff", ".", ":things.stuff"),
        ("b[:a] > a", ":a", "[:a]"),
        ("b[#_] > a", "#_", "[#_]"),
        ("\u{fc} > a", "\u{fc}", "\u{fc} >"),
        ("_hidden = :v", "_", "_hidden"),
        ("(a)between(b.c[4.5].#d)and(:a)", ".", "4.5"),
        ("size(a).b > a", ".", ").b"),
        ("(size(a)).b > a", ".", ").b"),
        ("size(a)[0] > a", "[", ")[0"),
        ("(size(a))[0] > a", "[", ")[0"),
        ("c!=:c", "!", "c!="),
        ("a = = :v", "=", "= = :v"),
        ("a = b = c", "=", "b = c"),
        ("(a = b) = c", "=", ") = c"),
        ("a = (b = c)", "=", "b = c"),
        ("a = NOT b", "NOT", "= NOT b"),
        ("a = b)", ")", "b)"),
        ("a = b c", "c", "b c"),
        (" ", "<EOF>", ""),
        ("!!!", "!", "!!"),
    ] {
        let expected =
            format!("Invalid FilterExpression: Syntax error; token: \"{token}\", near: \"{near}\"");
        assert_eq!(condition(text), expected, "{text}");
    }
}

#[test]
fn redundant_parentheses_are_refused() {
    for text in [
        "a=a and a > ((views))",
        "(a)between(((b.c)).d)and(c)",
        "a > whatever((:things), ((a)))",
        "a=a AND ((a=a AND a=a)) AND a=a",
        "a=a OR ((a=a OR a=a)) OR a=a",
        "a=a AND ((a=a AND (a=a AND a=a)))",
        "a=a OR ((a=a OR (a=a OR a=a)))",
        "((a = b))",
    ] {
        assert_eq!(
            condition(text),
            "Invalid FilterExpression: The expression has redundant parentheses;",
            "{text}"
        );
    }
}

#[test]
fn functions_must_exist_and_stand_where_they_may() {
    let unknown = "Invalid function name; function: ";
    let misused = "The function is not allowed to be used this way in an expression; function: ";
    let update_only = "The function is not allowed in a condition expression; function: ";
    for (text, words, function) in [
        ("a=a and whatever((:things)) > a", unknown, "whatever"),
        ("attRIbute_exIsts((views), #a)", unknown, "attRIbute_exIsts"),
        ("if_not_exists(a, :b) = :c", update_only, "if_not_exists"),
        ("list_append(a, :b) = :c", update_only, "list_append"),
        ("a=a and attribute_exists((views), (#a)) > b", misused, "attribute_exists"),
        ("attribute_not_exists(things) > b", misused, "attribute_not_exists"),
        ("attribute_type(things, :a) > b", misused, "attribute_type"),
        ("begins_with(things, a) > b", misused, "begins_with"),
        ("contains(:things, c) > b", misused, "contains"),
        ("size(contains(a, b)) > a", misused, "contains"),
        ("size(things)", misused, "size"),
        ("NOT size(things)", misused, "size"),
        ("a = b AND size(things)", misused, "size"),
        ("a between b and attribute_exists(things)", misused, "attribute_exists"),
        ("a in (b, attribute_exists(things))", misused, "attribute_exists"),
    ] {
        assert_eq!(condition(text), format!("Invalid FilterExpression: {words}{function}"), "{text}");
    }
}

#[test]
fn reserved_words_are_refused_as_names() {
    let words = "Attribute name is a reserved keyword; reserved keyword: ";
    assert_eq!(condition("attribute_exists(views, #a)"), format!("Invalid FilterExpression: {words}views"));
    assert_eq!(condition(":a < abOrT"), format!("Invalid FilterExpression: {words}abOrT"));
    assert_eq!(condition("a.b.set = :a"), format!("Invalid FilterExpression: {words}set"));
    assert_eq!(update(" set #c = :c set abOrt = true "), format!("Invalid UpdateExpression: {words}abOrt"));
    assert_eq!(update(" remove Absolute "), format!("Invalid UpdateExpression: {words}Absolute"));
    assert_eq!(projection("a.abORt"), format!("Invalid ProjectionExpression: {words}abORt"));
    assert_eq!(projection("#a,ABSoLUTE"), format!("Invalid ProjectionExpression: {words}ABSoLUTE"));
}

#[test]
fn updates_are_read_clause_by_clause() {
    for (text, printed) in [
        ("set a=:b", "SET a = :b"),
        (
            "SET a = b, c.d[0] = :e + f remove x,y ADD n :n DELETE s :s",
            "SET a = b, c.d[0] = :e + f REMOVE x, y ADD n :n DELETE s :s",
        ),
        ("SET a = if_not_exists(a, :b) - c", "SET a = if_not_exists(a, :b) - c"),
        ("set a = list_append(if_not_exists(a, :e), :b)", "SET a = list_append(if_not_exists(a, :e), :b)"),
        ("set a = if_not_exists(a, if_not_exists(b, :c))", "SET a = if_not_exists(a, if_not_exists(b, :c))"),
        ("set a = (b + c)", "SET a = b + c"),
        ("set a = ((b.c.d)+(e))", "SET a = b.c.d + e"),
        ("set a = (b)", "SET a = b"),
        ("set a = (b) - (c)", "SET a = b - c"),
        ("set a = ((b))", "Invalid UpdateExpression: The expression has redundant parentheses;"),
        ("", "Invalid UpdateExpression: The expression can not be empty;"),
    ] {
        assert_eq!(update(text), printed, "{text}");
    }
}

#[test]
fn syntax_errors_in_updates() {
    for (text, token, near) in [
        ("INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"),
        ("whatever", "whatever", "whatever"),
        ("set a", "<EOF>", "a"),
        ("SET a = :b,", "<EOF>", ","),
        ("SET", "<EOF>", "SET"),
        ("add a", "<EOF>", "a"),
        ("set a=set", "set", "=set"),
        ("remove a = b", "=", "a = b"),
        ("add a = b", "=", "a = b"),
        ("delete a b", "b", "a b"),
        ("add abort b", "b", "abort b"),
        ("remove a b", "b", "a b"),
        ("set a b", "b", "a b"),
        ("set :a = b", ":a", "set :a ="),
        ("remove :a", ":a", "remove :a"),
        ("set a = b / c", "/", "b / c"),
        ("set a = b * c", "*", "b * c"),
        ("set a[1] = \"eight\"", "\"", "= \"eight"),
        ("set a[1] = 1", "1", "= 1"),
        ("SET a = if_not_exist(a, 100)", "100", ", 100)"),
        ("SET if_not_exist(a, b) = a", "(", "if_not_exist(a"),
        ("set (a = (b + c))", "(", "set (a"),
        ("set a = (b.c).d + e", ".", ").d"),
        ("set a = (b.c)[0] + e", "[", ")[0"),
        ("set a = b + c + d", "+", "c + d"),
        ("set a = (b + c) + d", "+", ") + d"),
        ("set a = b + (c + d)", "+", "c + d"),
        ("SET c = if_not_exists(c, :val1+:val2)", "+", ":val1+:val2"),
        ("SET a = _f(b,c,d)", "_", "= _f"),
    ] {
        let expected =
            format!("Invalid UpdateExpression: Syntax error; token: \"{token}\", near: \"{near}\"");
        assert_eq!(update(text), expected, "{text}");
    }
}

#[test]
fn other_faults_of_updates() {
    for (text, words) in [
        ("set a = #c set c = :d", "The \"SET\" section can only be used once in an update expression;"),
        (
            "remove #d set a = b remove e",
            "The \"REMOVE\" section can only be used once in an update expression;",
        ),
        (
            "add #d :e set a = b add e :f",
            "The \"ADD\" section can only be used once in an update expression;",
        ),
        (
            "delete #d :e set a = b delete #e :f",
            "The \"DELETE\" section can only be used once in an update expression;",
        ),
        ("set #c = if_not_exist(:c) set c = d", "Invalid function name; function: if_not_exist"),
        ("SET a = LIST_APPEND(:a, :b)", "Invalid function name; function: LIST_APPEND"),
        ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
        (
            "SET a = list_append(list_append(:a, :b), :c)",
            "The function is not allowed to be used this way in an expression; function: list_append",
        ),
    ] {
        assert_eq!(update(text), format!("Invalid UpdateExpression: {words}"), "{text}");
    }
}

#[test]
fn projections_are_lists_of_paths() {
    assert_eq!(projection("a , b.c[12].#d,e[0][1]"), "a, b.c[12].#d, e[0][1]");
    for (text, token, near) in [
        ("whatever(stuff)", "(", "whatever(stuff"),
        (":a", ":a", ":a"),
        ("abort,", "<EOF>", ","),
        ("a,,b", ",", ",,b"),
        ("a..b", ".", "..b"),
        ("a[b]", "b", "[b]"),
        ("(a.b).c", "(", "(a"),
        ("(a)", "(", "(a"),
        ("a-b", "-", "a-b"),
        ("!!!", "!", "!!"),
    ] {
        let expected =
            format!("Invalid ProjectionExpression: Syntax error; token: \"{token}\", near: \"{near}\"");
        assert_eq!(projection(text), expected, "{text}");
    }
}

#[test]
fn sizes_and_numbers_of_operators_are_limited() {
    let too_many =
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301";
    let redundant = "Invalid FilterExpression: The expression has redundant parentheses;";
    let nested = |depth: usize| format!("a<b {}{}", "or (a<b ".repeat(depth), ")".repeat(depth));
    assert_eq!(
        condition(&"x".repeat(4097)),
        "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"
    );
    assert_eq!(projection(&"x".repeat(4096)), "x".repeat(4096));
    assert!(parse_condition(ExpressionKind::Filter, &nested(149)).is_ok());
    assert_eq!(condition(&nested(150)), too_many);
    assert_eq!(condition(&nested(454)), too_many);
    assert_eq!(condition(&format!("a<b {}", "or a<b ".repeat(580))), too_many);
    assert_eq!(condition(&format!("{}a<b", "not ".repeat(1000))), too_many);
    assert!(
        parse_condition(ExpressionKind::Filter, &format!("{}a<b{}", "not (".repeat(299), ")".repeat(299)))
            .is_ok()
    );
    assert_eq!(condition(&format!("{}a<b{}", "not (".repeat(600), ")".repeat(600))), too_many);
    assert_eq!(condition(&format!("{}a<b{}", "(".repeat(2046), ")".repeat(2046))), redundant);
    assert_eq!(condition(&format!("{}a{}<b", "(".repeat(2046), ")".repeat(2046))), redundant);
    assert_eq!(condition(&format!("a<{}b{}", "(".repeat(2046), ")".repeat(2046))), redundant);
    assert_eq!(
        condition(&"(".repeat(4096)),
        "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"(\""
    );
    assert_eq!(
        condition(&format!("a={}", "(".repeat(4000))),
        "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"(\""
    );
    assert_eq!(
        condition(&format!("a < {}b{}", "f(".repeat(1355), ")".repeat(1355))),
        "Invalid FilterExpression: Invalid function name; function: f"
    );
    assert_eq!(
        condition(&format!("a < {}b{}", "size(".repeat(680), ")".repeat(680))),
        "Invalid FilterExpression: Incorrect operand type for operator or function; operator or function: size, operand type: N"
    );
    assert_eq!(
        update(&format!("SET a = {}", "(".repeat(4000))),
        "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"(\""
    );
    assert_eq!(
        update(&format!("SET a = {}b{}", "(".repeat(2000), ")".repeat(2000))),
        "Invalid UpdateExpression: The expression has redundant parentheses;"
    );
}

#[test]
fn paths_indexes_and_lists_of_in_are_limited() {
    let path = |levels: usize| vec!["a"; levels].join(".");
    assert_eq!(projection(&path(32)), path(32));
    assert_eq!(
        projection(&path(33)),
        "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33"
    );
    assert_eq!(projection("a[2147483647]"), "a[2147483647]");
    for index in ["2147483648", "999999999999999999999"] {
        assert_eq!(
            projection(&format!("a[{index}]")),
            format!(
                "Invalid ProjectionExpression: List index is not within the allowable range; index: [{index}]"
            )
        );
    }
    let list = |count: usize| format!("a IN ({})", vec![":v"; count].join(", "));
    assert_eq!(condition(&list(100)), list(100));
    assert_eq!(
        condition(&list(101)),
        "Invalid FilterExpression: The IN operator is provided with too many operands; number of operands: 101"
    );
}

/// Text that looks like an expression.
fn expression_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "a",
            "b",
            "#n",
            ":v",
            "(",
            ")",
            "((",
            "))",
            "[",
            "]",
            "[0]",
            ".",
            ",",
            "=",
            "<>",
            "<",
            "+",
            "-",
            " AND ",
            " OR ",
            " NOT ",
            " BETWEEN ",
            " IN ",
            "SET ",
            " REMOVE ",
            " ADD ",
            " DELETE ",
            "size(",
            "contains(",
            "if_not_exists(",
            "list_append(",
            "f(",
            " ",
            "!",
            "\u{e9}",
            "status",
            "attribute_exists(a)",
            "a = :v",
        ])
        .prop_map(str::to_owned),
        "\\PC",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn any_path() -> impl Strategy<Value = PathTree> {
    let name = || {
        prop_oneof![
            "[a-c][a-z0-9_]{0,3}x".prop_map(|name| Element::Name(Arc::from(name.as_str()))),
            "#[a-z0-9_]{1,3}".prop_map(|name| Element::Placeholder(Arc::from(name.as_str()))),
        ]
    };
    let step = prop_oneof![name(), (0_usize..100).prop_map(Element::Index)];
    (name(), prop::collection::vec(step, 0..3))
        .prop_map(|(first, rest)| PathTree { elements: std::iter::once(first).chain(rest).collect() })
}

fn any_operand() -> impl Strategy<Value = OperandTree> {
    let plain = || {
        prop_oneof![
            any_path().prop_map(OperandTree::Path),
            ":[a-z0-9_]{1,3}".prop_map(|name| OperandTree::Value(Arc::from(name.as_str()))),
        ]
    };
    let size = plain()
        .prop_map(|inner| OperandTree::Call(Call { function: Function::Size, arguments: vec![inner] }));
    prop_oneof![3 => plain(), 1 => size]
}

fn any_condition() -> impl Strategy<Value = ConditionTree> {
    use crate::tree::Comparator::*;
    let function = prop::sample::select(vec![
        Function::AttributeExists,
        Function::AttributeNotExists,
        Function::AttributeType,
        Function::BeginsWith,
        Function::Contains,
    ]);
    let leaf = prop_oneof![
        (prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]), any_operand(), any_operand())
            .prop_map(|(comparator, left, right)| ConditionTree::Compare(comparator, left, right)),
        (any_operand(), any_operand(), any_operand())
            .prop_map(|(value, low, high)| ConditionTree::Between(value, low, high)),
        (any_operand(), prop::collection::vec(any_operand(), 1..4))
            .prop_map(|(value, list)| ConditionTree::In(value, list)),
        (function, prop::collection::vec(any_operand(), 1..3))
            .prop_map(|(function, arguments)| ConditionTree::Call(Call { function, arguments })),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(ConditionTree::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(ConditionTree::Any),
            inner.prop_map(|inner| ConditionTree::Not(Box::new(inner))),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in prop_oneof!["\\PC*", expression_like()]) {
        let _ = (parse_condition(ExpressionKind::Condition, &text), parse_update(&text), parse_projection(&text));
    }

    #[test]
    fn a_printed_condition_reads_as_the_same(tree in any_condition()) {
        let text = tree.to_string();
        if text.len() <= EXPRESSION_BYTES_MAX {
            prop_assert_eq!(parse_condition(ExpressionKind::Condition, &text), Ok(tree));
        }
    }

    #[test]
    fn what_is_accepted_prints_and_reads_as_the_same(text in expression_like()) {
        if let Ok(tree) = parse_condition(ExpressionKind::Condition, &text) {
            prop_assert_eq!(parse_condition(ExpressionKind::Condition, &tree.to_string()), Ok(tree));
        }
        if let Ok(tree) = parse_update(&format!("SET {text}")) {
            prop_assert_eq!(parse_update(&tree.to_string()), Ok(tree));
        }
        if let Ok(tree) = parse_projection(&text) {
            prop_assert_eq!(parse_projection(&tree.to_string()), Ok(tree));
        }
    }
}
