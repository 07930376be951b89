use super::*;

fn with(compared: u64, troubles: &[Trouble], found: &[Class], fail_on: Threshold) -> u8 {
    let mut ledger = Ledger::new(fail_on);
    let mut counts = Counts::default();
    for class in found {
        counts.add(*class, 1);
    }
    for _ in 0..compared {
        ledger.compared(("m".into(), None), counts);
    }
    for trouble in troubles {
        ledger.trouble(*trouble, "x".into());
    }
    ledger.finish().exit_code()
}

#[test]
fn the_exit_code_goes_by_precedence() {
    use Trouble::{Assertion, Hang, Refused, Target, Unreadable};
    let usual = Threshold::default();
    let all = [Assertion, Hang, Target, Refused, Unreadable];
    for (from, code) in [(0, 3), (1, 7), (2, 4), (3, 5), (4, 6)] {
        let troubles = &all[..5 - from];
        assert_eq!(
            with(1, troubles, &[Class::Breaking], usual),
            code,
            "{troubles:?}"
        );
    }
    assert_eq!(with(1, &[], &[Class::Breaking], usual), 1);
    assert_eq!(with(1, &[], &[], usual), 0);
}

fn account(class: Option<Class>) -> Account {
    Account {
        left: Some(Seq(1)),
        right: None,
        method: "m".into(),
        name: None,
        outcome: Outcome::Differs,
        class,
        differences: Vec::new(),
        more: 0,
    }
}

fn difference(path: &str, class: Class) -> Difference {
    Difference {
        half: Half::Response,
        path: path.into(),
        class,
        change: Change::Value,
        left: None,
        right: None,
        note: Some("n".into()),
    }
}

#[test]
fn what_hardly_matters_never_leaves_out_what_does() {
    let mut ledger = Ledger::new(Threshold::default());
    for _ in 0..10_000 {
        ledger.account(account(Some(Class::Noise)));
        ledger.account(account(None));
    }
    ledger.account(account(Some(Class::Breaking)));
    let report = ledger.finish();
    assert_eq!(report.accounts.len(), 2000 + 2000 + 1);
    assert_eq!(report.more_accounts, 20_001 - 4001);
    assert!(
        report
            .accounts
            .iter()
            .any(|one| one.class == Some(Class::Breaking))
    );
}

#[test]
fn the_worst_differences_of_an_exchange_are_kept() {
    let mut ledger = Ledger::new(Threshold::default());
    let mut one = account(Some(Class::Breaking));
    let path = |at: usize| format!("result.x{at}");
    one.differences = (0..40)
        .map(|at| difference(&path(at), Class::Changed))
        .collect();
    one.differences
        .push(difference("result.y", Class::Breaking));
    one.differences
        .push(difference("result.isError", Class::Breaking));
    one.more = 3;
    ledger.account(one);
    let report = ledger.finish();
    let kept = &report.accounts[0];
    let paths: Vec<_> = kept.differences.iter().map(|one| &*one.path).collect();
    assert_eq!(paths[..3], ["result.isError", "result.y", "result.x0"]);
    assert_eq!((paths.len(), kept.more), (25, 3 + 17));
}

#[test]
fn calls_offers_and_troubles_are_bounded() {
    let mut ledger = Ledger::new(Threshold::default());
    for at in 0..5000 {
        ledger.compared((format!("m{at}").into(), None), Counts::default());
        ledger.trouble(Trouble::Assertion, "x".into());
        ledger.offer(Offer {
            list: List::Tools,
            name: format!("t{at}").into(),
            left: None,
            right: None,
            difference: difference("result.tools", Class::Added),
            times: 1,
        });
    }
    ledger.trouble(Trouble::Target, "x".into());
    let report = ledger.finish();
    assert_eq!(report.tallies.len(), 2001);
    let others = &report.tallies[&("others".into(), None)];
    assert_eq!(others.compared, 3000);
    assert_eq!((report.offers.len(), report.more_offers), (2000, 3000));
    assert_eq!((report.troubles.len(), report.more_troubles), (100, 4901));
    assert_eq!(report.exit_code(), 4);
}
