//! Where the parts of a comparison are, and drawing them.

use super::{Comparison, Content, Opens, Stage};
use crate::app::App;
use crate::layout::screen;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::spans::{self, Spans};
use mcpreel_replay::diff::Class;
use mcpreel_wire::text::{count, cut, pad_end, plural, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

/// From this width on the sides stand beside each other.
const BESIDE: u16 = 100;

/// Columns of the sign and the word of a class.
const WORD: usize = 11;

/// Differences below the screen that are counted at most.
const COUNTED: usize = 1000;

/// From this width on there is room for the words of the classes.
const WIDE: usize = 50;

/// Where the parts of the screen are.
pub(super) struct Places {
    heads: Rect,
    summary: Rect,
    pub body: Rect,
    /// Where the row under the cursor is told in full.
    below: Rect,
    pub beside: bool,
}

impl Places {
    pub fn of((columns, rows): (u16, u16), content: Option<&dyn Content>) -> Self {
        let inner = Rect::new(0, 0, columns, rows).inner(Margin::new(1, 1));
        let beside = columns >= BESIDE;
        let has_heads =
            inner.height >= 8 && content.is_some_and(|one| one.heads(&Look::default()).is_some());
        let heads = if has_heads { 2 - u16::from(beside) } else { 0 };
        let summary = u16::from(inner.height >= 3);
        let below = match inner.height {
            ..6 => 0,
            6..14 => 2,
            height => (height / 4).min(10),
        };
        let body = inner.height.saturating_sub(heads + summary + below);
        let part = |from: u16, height: u16| Rect {
            y: inner.y + from,
            height,
            ..inner
        };
        Self {
            heads: part(0, heads),
            summary: part(heads, summary),
            body: part(heads + summary, body),
            below: part(heads + summary + body, below),
            beside,
        }
    }

    pub fn drawing<'l>(&self, look: &'l Look) -> Drawing<'l> {
        Drawing {
            look,
            columns: usize::from(self.body.width),
            beside: self.beside,
        }
    }
}

/// How rows are drawn: the two sides beside each other, or one below the other.
pub struct Drawing<'l> {
    pub look: &'l Look,
    pub columns: usize,
    pub beside: bool,
}

impl Drawing<'_> {
    /// Columns of the sign and word of a class; the sign alone where there is little room.
    fn word(&self) -> usize {
        if self.columns < WIDE { 2 } else { WORD }
    }

    /// Columns beside the class.
    pub fn room(&self) -> usize {
        self.columns.saturating_sub(self.word())
    }

    /// How wide the two sides are where they stand beside each other.
    pub fn sides(&self) -> [usize; 2] {
        let room = self.columns.saturating_sub(WORD + 3);
        [room / 2, room - room / 2]
    }

    fn divider(&self) -> Span<'static> {
        Span::raw(format!(" {} ", self.look.border().vertical_left))
    }

    /// The sign and the word of a class.
    fn class(&self, class: Option<Class>) -> Span<'static> {
        let role = class.map_or(Role::Text, role);
        let text = match class {
            Some(class) if self.word() == WORD => {
                format!("{} {}", sign(self.look, class), class.as_str())
            }
            Some(class) => sign(self.look, class).to_owned(),
            None => String::new(),
        };
        Span::styled(fitted(&text, self.word()), self.look.style(role))
    }

    /// One text over the whole width.
    pub fn one(&self, class: Option<Class>, role: Role, text: &str) -> Line<'static> {
        let text = Span::styled(cut(text, self.room()), self.look.style(role));
        Line::from(vec![self.class(class), text])
    }

    /// A text that is the same on both sides.
    pub fn same(&self, role: Role, text: &str) -> Line<'static> {
        if !self.beside {
            return self.one(None, role, text);
        }
        let style = self.look.style(role);
        let [left, right] = self
            .sides()
            .map(|room| Span::styled(fitted(text, room), style));
        Line::from(vec![self.class(None), left, self.divider(), right])
    }

    /// The texts of both sides: in one line, or in two where there is little room.
    pub fn both(&self, class: Option<Class>, sides: [Option<String>; 2]) -> Vec<Line<'static>> {
        let style = self.look.style(class.map_or(Role::Text, role));
        if self.beside {
            let [a, b] = self.sides();
            let [left, right] = sides.map(Option::unwrap_or_default);
            return vec![Line::from(vec![
                self.class(class),
                Span::styled(fitted(&left, a), style),
                self.divider(),
                Span::styled(fitted(&right, b), style),
            ])];
        }
        let mut first = Some(self.class(class));
        let room = self.room().saturating_sub(2);
        let lines = ["- ", "+ "]
            .into_iter()
            .zip(sides)
            .filter_map(|(sign, side)| {
                let text = format!("{sign}{}", cut(&side?, room));
                let before = first.take().unwrap_or_else(|| self.class(None));
                Some(Line::from(vec![before, Span::styled(text, style)]))
            });
        lines.collect()
    }
}

/// The row at this cell of the screen.
pub(super) fn hit(
    look: &Look,
    size: (u16, u16),
    one: &Comparison,
    (x, y): (u16, u16),
) -> Option<usize> {
    let content = one.content()?;
    let places = Places::of(size, Some(content));
    if !places.body.contains((x, y).into()) {
        return None;
    }
    let drawing = places.drawing(look);
    let mut below = usize::from(y - places.body.y);
    (one.top..content.rows()).find(|row| {
        let lines = content.lines(*row, &drawing).len();
        let is_it = below < lines;
        below = below.saturating_sub(lines);
        is_it
    })
}

/// Draws it over the whole screen.
pub fn draw(app: &App, one: &Comparison, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    frame.render_widget(Clear, area);
    let content = match &one.stage {
        Stage::Compared(content) => &**content,
        Stage::Comparing(far) => {
            let inner = frame::draw(look, "comparing", "Esc or Ctrl-C stops", true, area, frame);
            let text = format!(" {far}{}", look.glyph(Glyph::Ellipsis));
            return frame.render_widget(Line::styled(text, look.style(Role::Faint)), inner);
        }
    };
    let size = screen(app).as_size();
    let places = Places::of((size.width, size.height), Some(content));
    let drawing = places.drawing(look);
    if let Some(heads) = content.heads(look) {
        let lines = drawing.both(None, heads.map(Some)).into_iter();
        for (line, area) in lines.zip(places.heads.rows()) {
            frame.render_widget(line.style(look.style(Role::Strong)), area);
        }
    }
    let line = spans::cut(
        summary(look, one, content),
        usize::from(places.summary.width),
    );
    frame.render_widget(spans::line(line, *look), places.summary);
    let mut areas = places.body.rows();
    let mut next = one.top;
    'rows: for row in one.top..content.rows() {
        for line in content.lines(row, &drawing) {
            let Some(area) = areas.next() else {
                break 'rows;
            };
            frame.render_widget(line, area);
            if row == one.at {
                crate::widget::spans::draw(look.style(Role::Selected), area, frame);
            }
        }
        next = row + 1;
    }
    below(content, one.at, &drawing, places.below, frame);
    let foot = foot(
        look,
        one,
        content,
        next,
        usize::from(area.width.saturating_sub(4)),
    );
    frame::draw(look, &content.title(), &foot, true, area, frame);
}

/// How much there is of each class, and which difference the cursor is on.
fn summary(look: &Look, one: &Comparison, content: &dyn Content) -> Spans {
    let changes = content.changes();
    let (role_of, text) = match content.not_made() {
        Some(why) => (Role::Warn, format!("{} {why}", look.glyph(Glyph::Warning))),
        None if changes.is_empty() => (
            Role::Good,
            format!("{} nothing differs", look.glyph(Glyph::Ok)),
        ),
        None => {
            let passed = changes.partition_point(|at| *at <= one.at);
            (Role::Faint, format!("{passed} of {}", changes.len()))
        }
    };
    let mut parts = vec![(role_of, text)];
    for class in Class::ALL {
        let found = content.count(class);
        if found > 0 {
            let text = format!("{} {} {}", sign(look, class), count(found), class.as_str());
            parts.push((role(class), text));
        }
    }
    parts.extend(content.remarks(look));
    let mut line = vec![(Role::Text, " ".to_owned())];
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            line.push((Role::Text, "  ".to_owned()));
        }
        line.push(part);
    }
    line
}

/// The row under the cursor in full, below a rule with its name.
fn below(
    content: &dyn Content,
    row: usize,
    drawing: &Drawing<'_>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let most = usize::from(area.height).saturating_sub(1);
    let Some((mut head, mut lines)) = content.below(row, drawing, most) else {
        return;
    };
    let look = drawing.look;
    let rest = drawing.columns.saturating_sub(spans::width(&head) + 1);
    head.push((
        Role::Border,
        format!(" {}", look.border().horizontal_top.repeat(rest)),
    ));
    if lines.len() > most && most > 0 {
        let hidden = plural((lines.len() + 1 - most) as u64, "more line");
        lines.truncate(most - 1);
        let text = format!(" {} and {hidden}", look.glyph(Glyph::Ellipsis));
        lines.push(Line::styled(text, look.style(Role::Faint)));
    }
    let head = spans::line(spans::cut(head, drawing.columns), *look);
    for (line, area) in std::iter::once(head).chain(lines).zip(area.rows()) {
        frame.render_widget(line, area);
    }
}

/// `▼ 12 more rows, ✗ 1 breaking · e E walk · Space unfolds · Esc closes`: the rows below the
/// screen with the gravest class among them, and of the keys what there is room for.
fn foot(look: &Look, one: &Comparison, content: &dyn Content, next: usize, room: usize) -> String {
    let hidden = content.rows() - next;
    let said = (hidden > 0).then(|| {
        let text = format!(
            "{} {}",
            look.glyph(Glyph::More),
            plural(hidden as u64, "more row")
        );
        let changes = content.changes();
        let below = &changes[changes.partition_point(|change| *change < next)..];
        let classes = || below.iter().filter_map(|row| content.class(*row));
        // Drawing counts no long list.
        let worst = if below.len() > COUNTED {
            None
        } else {
            classes().min()
        };
        match worst.filter(|class| *class != Class::Noise) {
            Some(worst) => {
                let found = classes().filter(|class| *class == worst).count();
                format!("{text}, {} {found} {}", sign(look, worst), worst.as_str())
            }
            None => text,
        }
    });
    let opens = match content.opens(one.at) {
        Opens::Calls(..) => Some("Enter opens both"),
        _ => None,
    };
    let fold = if one.unfolded {
        "Space folds"
    } else {
        "Space unfolds"
    };
    let keys = ["h l go there", "e E walk", fold, "Esc closes"];
    let keys: Vec<_> = opens.into_iter().chain(keys).collect();
    let dot = format!(" {} ", look.glyph(Glyph::Dot));
    let mut ways = (0..=keys.len()).map(|left_out| {
        let parts = said
            .as_deref()
            .into_iter()
            .chain(keys[left_out..].iter().copied());
        parts.collect::<Vec<_>>().join(&dot)
    });
    ways.find(|text| width(text) <= room).unwrap_or_default()
}

pub(super) fn sign(look: &Look, class: Class) -> &'static str {
    look.glyph(match class {
        Class::Breaking => Glyph::Failed,
        Class::Changed => Glyph::Changed,
        Class::Added => Glyph::Added,
        Class::Order => Glyph::Order,
        Class::Latency => Glyph::Warning,
        Class::Noise => Glyph::Noise,
    })
}

pub(super) fn role(class: Class) -> Role {
    match class {
        Class::Breaking => Role::Bad,
        Class::Changed => Role::Warn,
        Class::Added => Role::Good,
        Class::Order | Class::Latency => Role::Event,
        Class::Noise => Role::Faint,
    }
}

/// `text` in exactly `columns` columns.
fn fitted(text: &str, columns: usize) -> String {
    pad_end(&cut(text, columns), columns)
}
