use super::*;

fn difference(path: &str, class: Class) -> Difference {
    Difference {
        half: Half::Response,
        path: path.into(),
        class,
        change: Change::Value,
        left: None,
        right: None,
        note: None,
    }
}

fn account(class: Option<Class>, differences: Vec<Difference>) -> Account {
    Account {
        left: Some(Seq(1)),
        right: None,
        method: "m".into(),
        name: None,
        outcome: Outcome::Differs,
        class,
        differences,
        more: 3,
    }
}

#[test]
fn the_exit_code_goes_by_precedence() {
    use Trouble::{Assertion, Hang, Refused, Target, Unreadable};
    let exit = |troubles: &[Trouble]| {
        let mut ledger = Ledger::default();
        let mut counts = Counts::default();
        counts.add(Class::Breaking, 1);
        ledger.compared(("m".into(), None), counts);
        for trouble in troubles {
            ledger.trouble(*trouble, "x".into());
        }
        ledger.report.exit_code()
    };
    let all = [Assertion, Hang, Target, Refused, Unreadable];
    for (known, code) in [(5, 3), (4, 7), (3, 4), (2, 5), (1, 6), (0, 1)] {
        assert_eq!(exit(&all[..known]), code, "{:?}", &all[..known]);
    }
    assert_eq!(
        Ledger::default().report.exit_code(),
        3,
        "nothing was compared"
    );
}

#[test]
fn the_worst_is_kept_whatever_comes_before_it_and_the_rest_is_counted() {
    let mut ledger = Ledger::default();
    for at in 0..5000 {
        ledger.account(account(Some(Class::Noise), Vec::new()));
        ledger.account(account(None, Vec::new()));
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
    let paths = (0..40).map(|at| format!("result.x{at}"));
    let mut differences: Vec<_> = paths
        .map(|path| difference(&path, Class::Changed))
        .collect();
    differences.push(difference("result.y", Class::Breaking));
    differences.push(difference("result.isError", Class::Breaking));
    ledger.account(account(Some(Class::Breaking), differences));
    let report = ledger.report;
    let left_out = LeftOut {
        exchanges: 6000,
        offers: 3000,
        troubles: 4900,
        ..LeftOut::default()
    };
    assert_eq!(report.left_out, left_out);
    assert_eq!(report.exit_code(), 4);
    assert_eq!(report.tallies[&("others".into(), None)].compared, 3000);
    let kept = report.accounts.last().expect("it is kept");
    let paths: Vec<_> = kept.differences.iter().map(|one| &*one.path).collect();
    assert_eq!(paths[..3], ["result.isError", "result.y", "result.x0"]);
    assert_eq!((paths.len(), kept.more), (25, 3 + 17));
}
