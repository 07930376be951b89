//! A comparison that is not there yet.

use super::*;
use crate::app::Settings;
use crate::app::comparison::Far;
use crate::effect::{Effect, Now};
use mcpreel_store::library::Library;

fn comparing() -> App {
    let library = Library::new("/nonexistent");
    let mut app = App::new(&library, Settings::default(), (100, 30), Now::default());
    let file = || PathBuf::from("/nonexistent/a.reel");
    begin(&mut app, Which::File(file()), file(), None, None);
    app
}

#[test]
fn it_is_given_up_by_ctrl_c_and_nobody_goes_on_with_it() {
    for action in [Action::Cancel, Action::Close, Action::Back] {
        let mut app = comparing();
        let effects = super::super::perform(&mut app, action);
        assert!(app.overlays.is_empty(), "{action:?}");
        assert!(!app.quit_armed, "{action:?}");
        let [Effect::Ask(ask)] = &effects[..] else {
            panic!("{effects:?}");
        };
        assert!(matches!(**ask, AskAny::Beside(Ask::Stop)), "{action:?}");
    }
}

#[test]
fn an_answer_that_comes_all_the_same_is_not_shown() {
    let mut app = comparing();
    let generation = match app.overlays.last() {
        Some(Overlay::Comparison(one)) => one.generation,
        other => panic!("{other:?}"),
    };
    super::super::perform(&mut app, Action::Cancel);
    answer(&mut app, Answer::Comparing(generation, Far::Compared(1, 2)));
    assert!(app.overlays.is_empty());
}
