fn cpu() -> f64 { let text = std::fs::read_to_string("/proc/self/schedstat").unwrap(); text.split(" ").next().unwrap().parse::<f64>().unwrap() / 1e9 }
use monotable_engine::{Engine, Options, Durability};
use dynamo::operation::*;
use dynamo::*;
fn item(n: usize) -> Item {
    let mut item = Item::new();
    item.insert("pk".into(), Value::from(format!("USER#{:06}", n / 20)));
    item.insert("sk".into(), Value::from(format!("ORDER#{:08}", n)));
    item.insert("gpk".into(), Value::from(format!("STATUS#{:04}", n % 500)));
    item.insert("gsk".into(), Value::from(format!("2026-01-01T00:00:{:08}", n)));
    for a in 0..6 { item.insert(format!("attribute{a}"), Value::from("x".repeat(140))); }
    item.insert("n".into(), Value::from(n as i64));
    item
}
fn main() {
    let on_disk = std::env::args().nth(1);
    let engine = match on_disk.as_deref() {
        None => Engine::in_memory(),
        Some(path) => Engine::open(path, Options { durability: Durability::None, ..Options::default() }).unwrap(),
    };
    let body = br#"{"TableName":"T","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"gpk","AttributeType":"S"},{"AttributeName":"gsk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"G","KeySchema":[{"AttributeName":"gpk","KeyType":"HASH"},{"AttributeName":"gsk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}"#;
    engine.run(Operation::parse("CreateTable", body).unwrap()).unwrap();
    let count = 100_000;
    let items: Vec<Item> = (0..count).map(|n| item(n * 7919 % count)).collect();
    let start = cpu();
    for item in items { engine.put_item(PutItem { table_name: Some("T".into()), item: Some(item), ..PutItem::default() }).unwrap(); }
    println!("put {:.0}/s", count as f64 / (cpu() - start));
    let start = cpu();
    for n in 0..count {
        let n = n * 7919 % count;
        let key = Item::from([("pk".to_owned(), Value::from(format!("USER#{:06}", n / 20))), ("sk".to_owned(), Value::from(format!("ORDER#{:08}", n)))]);
        let reply = engine.get_item(GetItem { table_name: Some("T".into()), key: Some(key), ..GetItem::default() }).unwrap();
        assert!(reply.item.is_some());
    }
    println!("get {:.0}/s", count as f64 / (cpu() - start));
    let start = cpu();
    let queries = 20_000;
    for n in 0..queries {
        let values = Item::from([(":p".to_owned(), Value::from(format!("USER#{:06}", n * 31 % (count / 20))))]);
        let reply = engine.query(Query { table_name: Some("T".into()), key_condition_expression: Some("pk = :p".into()), expression_attribute_values: Some(values), ..Query::default() }).unwrap();
        assert_eq!(reply.count, 20);
    }
    println!("query20 {:.0}/s", queries as f64 / (cpu() - start));
}
