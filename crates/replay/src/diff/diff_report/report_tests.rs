use super::*;

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

#[test]
fn the_exit_code_goes_by_precedence() {
    use Trouble::{Hang, Refused, Target, Unreadable};
    let exit = |troubles: &[Trouble]| {
        let mut ledger = Ledger::default();
        let mut counts = Counts::default();
        counts.add(Class::Breaking, 1);
        ledger.compared(&account(None), counts);
        for trouble in troubles {
            ledger.trouble(*trouble, "x".into());
        }
        ledger.report.exit_code()
    };
    let all = [Hang, Target, Refused, Unreadable];
    for (known, code) in [(4, 3), (3, 7), (2, 4), (1, 5), (0, 1)] {
        assert_eq!(exit(&all[..known]), code, "{:?}", &all[..known]);
    }
    let nothing = Ledger::default().report;
    assert_eq!(nothing.exit_code(), 3, "nothing was compared");
}

#[test]
fn the_worst_is_kept_whatever_comes_before_it_and_the_rest_is_counted() {
    let mut ledger = Ledger::default();
    for _ in 0..5000 {
        ledger.keep(account(Some(Class::Noise)));
        ledger.keep(account(None));
        ledger.trouble(Trouble::Hang, "x".into());
    }
    ledger.trouble(Trouble::Target, "x".into());
    ledger.keep(account(Some(Class::Breaking)));
    let report = ledger.report;
    let left_out = LeftOut {
        exchanges: 6000,
        troubles: 4900,
        ..LeftOut::default()
    };
    assert_eq!(report.left_out, left_out);
    assert_eq!(report.exit_code(), 4);
    let last = report.accounts.last().expect("it is kept");
    assert_eq!(last.class, Some(Class::Breaking));
}
