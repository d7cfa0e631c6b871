//! Runs a script on a database.

use crate::answer::Answer;
use crate::database::Database;
use crate::json::{Json, Kept};
use crate::script::{Script, Step};
use crate::statement::{Context, Need, Shown, Statement, read};

/// What became of a script.
pub(crate) enum Outcome {
    /// The answers, one list for each step.
    Answered(Vec<Vec<String>>),
    /// The database lacks something that the script needs.
    Skipped,
}

/// A script being run.
struct Run<'a> {
    database: &'a mut dyn Database,
    table: String,
    tables: Vec<String>,
    kept: Kept,
    last: Json,
}

/// Runs a script and removes the tables that it made.
pub(crate) fn run(script: &Script, database: &mut dyn Database) -> Outcome {
    let mut run =
        Run { database, table: String::new(), tables: Vec::new(), kept: Kept::new(), last: Json::Null };
    let mut answers = Vec::new();
    for step in &script.steps {
        match run.step(step) {
            Ok(lines) => answers.push(lines),
            Err(Stop::Skip) => return Outcome::Skipped,
            Err(Stop::Broken(why)) => {
                answers.push(vec![format!("the script is wrong near line {}: {why}", step.line)]);
                break;
            }
        }
    }
    if !run.database.is_thrown_away() {
        for table in std::mem::take(&mut run.tables) {
            run.drop_table(&table);
        }
    }
    Outcome::Answered(answers)
}

/// Why a script does not go on.
enum Stop {
    Skip,
    Broken(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Broken(why)
    }
}

impl Run<'_> {
    fn step(&mut self, step: &Step) -> Result<Vec<String>, Stop> {
        let mut lines = Vec::new();
        for text in step.statements() {
            let context = Context { table: &self.table, kept: &self.kept };
            let statements = read(&text, &context).map_err(|why| format!("{why}\n    in: {text}"))?;
            for statement in statements {
                self.statement(statement, &mut lines)?;
            }
        }
        Ok(lines)
    }

    fn statement(&mut self, statement: Statement, lines: &mut Vec<String>) -> Result<(), Stop> {
        match statement {
            Statement::Call { operation, body, shown } => {
                let answer = self.call(&operation, &body);
                let text = answer.lines(&operation, &self.kept);
                let is_shown = match shown {
                    Shown::All => true,
                    Shown::Something => text != ["ok"],
                    Shown::Errors => answer.is_error,
                };
                if is_shown {
                    lines.extend(text);
                }
            }
            Statement::Table { request } => self.make_table(&request, lines),
            Statement::Drop { table } => self.drop_table(&table),
            Statement::Settle { table } => self.settle(&table),
            Statement::SettleBackup { arn } => self.settle_backup(&arn),
            Statement::Use { table } => self.table = table,
            Statement::Keep { path, name } => {
                let mut part = &self.last;
                for member in path.split('.') {
                    part = part.get(member).ok_or_else(|| format!("the last answer has no {path}"))?;
                }
                self.kept.insert(name, part.clone());
            }
            Statement::Advance { seconds } => {
                if !self.database.advance(seconds) {
                    return Err(Stop::Skip);
                }
            }
            Statement::Needs(need) => {
                let has = match need {
                    Need::EmptyDatabase => self.database.is_thrown_away(),
                    Need::Clock => self.database.advance(0),
                };
                if !has {
                    return Err(Stop::Skip);
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, operation: &str, body: &str) -> Answer {
        let answer = self.database.call(operation, body);
        self.last = answer.body.clone();
        let makes_table = operation == "CreateTable" || operation.starts_with("RestoreTable");
        if makes_table && !answer.is_error {
            let name = self.last.get("TableDescription").and_then(|table| table.get("TableName"));
            self.tables.extend(name.and_then(Json::as_text).map(str::to_owned));
        }
        answer
    }

    fn make_table(&mut self, request: &Json, lines: &mut Vec<String>) {
        let name = request.get("TableName").and_then(Json::as_text).unwrap_or_default().to_owned();
        if !self.database.is_thrown_away() {
            self.drop_table(&name);
        }
        let answer = self.call("CreateTable", &request.strict());
        if answer.is_error {
            lines.extend(answer.lines("CreateTable", &self.kept));
        }
        let made = self.last.clone();
        self.settle(&name);
        self.last = made;
        self.table = name;
    }

    fn drop_table(&mut self, table: &str) {
        let body = Json::map([("TableName", Json::text(table))]).strict();
        if self.call("DeleteTable", &body).is_error {
            return;
        }
        while self.call("DescribeTable", &body).exception() != "ResourceNotFoundException" {
            self.database.pause();
        }
        self.tables.retain(|known| known != table);
    }

    fn settle_backup(&mut self, arn: &str) {
        let body = Json::map([("BackupArn", Json::text(arn))]).strict();
        while self.call("DescribeBackup", &body).body.strict().contains("\"CREATING\"") {
            self.database.pause();
        }
    }

    fn settle(&mut self, table: &str) {
        let body = Json::map([("TableName", Json::text(table))]).strict();
        loop {
            let answer = self.call("DescribeTable", &body);
            let described = answer.body.strict();
            let busy = ["CREATING", "UPDATING", "DELETING"].map(|status| format!("Status\":\"{status}\""));
            if answer.is_error || !busy.iter().any(|status| described.contains(status)) {
                return;
            }
            self.database.pause();
        }
    }
}
