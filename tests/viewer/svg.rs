//! A screen as a picture whose text can be selected.

use crate::notation::{Run, runs};
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;

/// Pixels of a cell. The width is that of usual monospaced fonts at [`FONT_SIZE`].
const CELL: (f64, f64) = (8.4, 17.0);

const FONT_SIZE: u16 = 14;

/// Where in a cell its text stands.
const BASELINE: f64 = 13.0;

/// Around the screen, pixels.
const MARGIN: f64 = 14.0;

const FOREGROUND: &str = "#d5d8da";
const BACKGROUND: &str = "#15181c";

/// The sixteen colours of the terminal in the picture.
const PALETTE: [&str; 16] = [
    "#15181c", "#e5706b", "#7fbf7f", "#d9b65c", "#6ea8e8", "#c38fe0", "#5fc0c0", "#d5d8da",
    "#7a828a", "#ff8f87", "#98d998", "#f0cf7a", "#8fc1ff", "#dcadf5", "#7fdede", "#ffffff",
];

/// The picture of `screen`, described by `title` for those who do not see it.
pub fn picture(screen: &Buffer, title: &str) -> String {
    let size = |cells: u16, cell: f64| f64::from(cells) * cell + 2.0 * MARGIN;
    let width = size(screen.area.width, CELL.0);
    let height = size(screen.area.height, CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         role=\"img\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"{FONT_SIZE}\" fill=\"{FOREGROUND}\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n",
        escaped(title)
    );
    for row in 0..screen.area.height {
        for run in runs(screen, screen.area.top() + row) {
            draw(&mut svg, &run, row);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, run: &Run<'_>, row: u16) {
    let (foreground, background) = colors(run);
    let x = MARGIN + f64::from(run.columns.start) * CELL.0;
    let y = MARGIN + f64::from(row) * CELL.1;
    let columns = run.columns.end - run.columns.start;
    let width = f64::from(columns) * CELL.0;
    // Writing to memory does not fail.
    if background != BACKGROUND {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{background}\"/>",
            CELL.1
        );
    }
    // Blanks need no ink, and where they stand is said by what follows them.
    for (skipped, text, columns) in words(run) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" xml:space=\"preserve\"{}>{}</text>",
            x + f64::from(skipped) * CELL.0,
            y + BASELINE,
            f64::from(columns) * CELL.0,
            attributes(run, foreground),
            escaped(&text)
        );
    }
}

/// The parts of a run between wide gaps: columns before it, text, its columns.
fn words(run: &Run<'_>) -> Vec<(u16, String, u16)> {
    use unicode_width::UnicodeWidthStr as _;
    let width = |text: &str| u16::try_from(text.width()).unwrap_or(u16::MAX);
    let mut words = Vec::new();
    let mut at = 0;
    for part in run.text.split("  ") {
        let text = part.trim_start();
        let text_at = at + width(part) - width(text);
        if !text.trim_end().is_empty() {
            let text = text.trim_end().to_owned();
            let columns = width(&text);
            words.push((text_at, text, columns));
        }
        at += width(part) + 2;
    }
    words
}

fn attributes(run: &Run<'_>, foreground: &str) -> String {
    let modifier = run.cell.modifier;
    let mut attributes = String::new();
    let mut add = |wanted, text: &str| {
        if wanted {
            attributes.push(' ');
            attributes.push_str(text);
        }
    };
    add(foreground != FOREGROUND, &format!("fill=\"{foreground}\""));
    add(modifier.contains(Modifier::BOLD), "font-weight=\"bold\"");
    add(modifier.contains(Modifier::ITALIC), "font-style=\"italic\"");
    add(modifier.contains(Modifier::DIM), "opacity=\"0.6\"");
    add(
        modifier.contains(Modifier::UNDERLINED),
        "text-decoration=\"underline\"",
    );
    attributes
}

/// Foreground and background as they are seen.
fn colors(run: &Run<'_>) -> (&'static str, &'static str) {
    let colors = (rgb(run.cell.fg, FOREGROUND), rgb(run.cell.bg, BACKGROUND));
    if run.cell.modifier.contains(Modifier::REVERSED) {
        (colors.1, colors.0)
    } else {
        colors
    }
}

fn rgb(color: Color, default: &'static str) -> &'static str {
    let index = match color {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(245) => return "#8a8a8a",
        Color::Indexed(203) => return "#ff5f5f",
        Color::Indexed(177) => return "#d787ff",
        Color::Indexed(75) => return "#5fafff",
        Color::Indexed(index @ 0..16) => usize::from(index),
        // The pictures are drawn with the terminal's own colours.
        Color::Indexed(_) | Color::Rgb(..) | Color::Reset => return default,
    };
    PALETTE[index]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
