use crate::plan::{self, Plan};
use crate::verdict::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

type Check = fn(&Plan) -> Result<(), String>;

fn class(plan: &Plan, why: &str, kind: &str) -> String {
    let why: String = why.chars().take_while(|c| *c != ':').filter(|c| !c.is_ascii_digit()).collect();
    format!("{:?} {kind} {}", plan.fault, why)
}

#[test]
fn hunt() {
    let n: u32 = std::env::var("HUNT").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut runner = TestRunner::new(Config::default());
    let mut found: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let checks: [(&str, Check); 5] = crate::properties::CHECKS;
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, check) in checks {
        if !name.contains(&only) {
            continue;
        }
        let strategy =
            if name == "healthy" || name == "snapshot" { plan::healthy().boxed() } else { plan::faulty().boxed() };
        for _ in 0..n {
            let mut tree = strategy.new_tree(&mut runner).unwrap();
            let plan = tree.current();
            let Err(why) = check(&plan) else { continue };
            let kind = analyze_kind(&plan);
            let key = format!("{name}: {}", class(&plan, &why, &kind));
            let slot = found.entry(key.clone()).or_insert((0, String::new()));
            slot.0 += 1;
            if slot.0 > 1 {
                continue;
            }
            let same = |plan: &Plan| match check(plan) {
                Err(why) if format!("{name}: {}", class(plan, &why, &analyze_kind(plan))) == key => Some(why),
                _ => None,
            };
            let mut best = (plan, why);
            let mut tries = 0;
            while tree.simplify() {
                loop {
                    tries += 1;
                    let now = tree.current();
                    if let Some(why) = same(&now) {
                        best = (now, why);
                        break;
                    }
                    if !tree.complicate() {
                        break;
                    }
                }
                if tries > 400 {
                    break;
                }
            }
            slot.1 = format!("{}\n{}", best.1, summary(&best.0, &best.0.run()));
        }
    }
    for (key, (count, text)) in found {
        println!("##### {count} x {key}\n{text}");
    }
}

fn analyze_kind(plan: &Plan) -> String {
    plan.run().report().verdict
}
