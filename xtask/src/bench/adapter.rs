//! What the operations of a programming model cost, recorded, not, and left out.
//!
//! The one idea: of every model a program makes operations with next to nothing in them by the hundred thousand and prints what
//! one took; so what differs from model to model is data.

use super::build::Tools;
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

/// A model.
pub(super) struct Adapter {
    pub title: &'static str,
    pub text: &'static str,
    /// What its operations are called.
    pub operation: &'static str,
    /// The names of its cases begin with this.
    pub name: &'static str,
    /// What leaves it out.
    pub option: &'static str,
    /// Operations, by what the program prints of them.
    pub figures: &'static [(&'static str, &'static str)],
}

impl Adapter {
    /// Measures the program that `build` makes: the words that start it, of which the first few may be a launcher.
    pub(super) fn measure(
        &self,
        plan: &Plan,
        tools: &Tools,
        goals: &mut Goals,
        environment: &[(&'static str, &'static str)],
        build: impl FnOnce() -> Result<Vec<String>>,
    ) -> Result<Section> {
        let mut table = Table::new(&[self.operation, "alone", "recorded", "added", "added, left out"]);
        let mut absent = Vec::new();
        if plan.wants(&format!("{} marey, left out", self.name)) {
            match build() {
                Ok(program) => {
                    let cases = self.cases(tools, environment, &program);
                    self.turns(plan, &cases, &mut table, &mut absent, goals);
                }
                Err(reason) => absent.push(format!("{}: {reason:#}", self.name)),
            }
        }
        Ok(Section { title: self.title, text: self.text, table, absent })
    }

    fn cases(
        &self,
        tools: &Tools,
        environment: &[(&'static str, &'static str)],
        program: &[String],
    ) -> [Case; 3] {
        let case = |how: &str, before: Vec<String>| {
            let words = before.into_iter().chain(program.iter().cloned()).collect();
            Case { environment: environment.to_vec(), ..Case::new(format!("{} {how}", self.name), words) }
        };
        [
            case("alone", Vec::new()),
            case("marey", tools.record(&[])),
            case("marey, left out", tools.record(&[self.option, "off"])),
        ]
    }

    fn turns(
        &self,
        plan: &Plan,
        cases: &[Case],
        table: &mut Table,
        absent: &mut Vec<String>,
        goals: &mut Goals,
    ) {
        let mut measured: Vec<Samples> = Vec::new();
        for result in rotate(plan, cases) {
            match result {
                Ok(samples) => measured.push(samples),
                Err(reason) => absent.push(reason),
            }
        }
        let [alone, recorded, left_out] = measured.as_slice() else { return };
        for (figure, operation) in self.figures {
            table.push(vec![
                (*operation).to_owned(),
                with_range(alone.summary(figure)),
                with_range(recorded.summary(figure)),
                with_range(recorded.added(figure, alone)),
                with_range(left_out.added(figure, alone)),
            ]);
            let unit = format!("ns/{} added", self.operation);
            goals.add(operation, &unit, recorded.added(figure, alone), Target::Open);
        }
    }
}
