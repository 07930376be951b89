//! What holds for every filter. Broken laws come back as sentences.

use super::dice::Dice;
use super::filters;
use mcpreel_trace::query::ast::Query;
use mcpreel_trace::query::{ErrorKind, complete};

/// One round over a random filter, a random text and random rows.
pub fn round(dice: &mut Dice) -> Result<(), String> {
    let query = filters::query(dice);
    written_and_read(&query)?;
    beginnings(&query.to_string())?;
    let text = filters::mutated(dice);
    any_text(&text)?;
    completion(&text, dice.length_below(text.len() + 2))?;
    Ok(())
}

/// A filter is read back as it was written.
pub fn written_and_read(query: &Query) -> Result<(), String> {
    let text = query.to_string();
    match Query::parse(&text) {
        Ok(again) if again == *query => Ok(()),
        other => Err(format!(
            "{text:?} was written for {query:?} and read as {other:?}"
        )),
    }
}

/// Whoever types a filter is never told on the way that it cannot become one.
pub fn beginnings(text: &str) -> Result<(), String> {
    for (at, _) in text.char_indices() {
        if let Err(error) = Query::parse(&text[..at])
            && error.kind == ErrorKind::Invalid
        {
            return Err(format!(
                "{:?} is refused ({error}), but is the beginning of {text:?}",
                &text[..at]
            ));
        }
    }
    Ok(())
}

/// Any text is a filter that reads back the same, or refused with a place in it.
pub fn any_text(text: &str) -> Result<(), String> {
    match Query::parse(text) {
        Ok(query) => written_and_read(&query).map_err(|error| format!("{text:?}: {error}")),
        Err(error) if text.get(error.at.clone()).is_some() => Ok(()),
        Err(error) => Err(format!("{text:?}: {:?} is no place in it", error.at)),
    }
}

/// What may stand at any place replaces a part of the text that is there.
pub fn completion(text: &str, caret: usize) -> Result<(), String> {
    let completion = complete(text, caret);
    match text.get(completion.replace.clone()) {
        Some(_) => Ok(()),
        None => Err(format!(
            "{text:?}, {caret}: {:?} is no place in it",
            completion.replace
        )),
    }
}
