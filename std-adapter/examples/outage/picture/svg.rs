//! The few SVG elements that the picture needs.

use std::fmt::Write;

#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) colour: &'static str,
}

impl Font {
    /// About how wide a text comes out: rather too wide in Helvetica, about right in DejaVu.
    pub(crate) fn width_of(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.size * if self.bold { 0.64 } else { 0.57 }
    }

    /// Breaks a text into lines no wider than `width`.
    pub(crate) fn wrap(self, text: &str, width: f64) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            let last = lines.last_mut().expect("never empty");
            if last.is_empty() {
                last.push_str(word);
            } else if self.width_of(last) + self.width_of(word) + self.size > width {
                lines.push(word.into());
            } else {
                last.push(' ');
                last.push_str(word);
            }
        }
        lines
    }
}

// Writing to a string cannot fail, so the results of `write!` below say nothing.
impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: String::new() }
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, style: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{:.1}" height="{height:.1}" {style}/>"#,
            width.max(0.0)
        );
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" {style}/>"#,
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through all points, closed where `style` fills it.
    pub(crate) fn path(&mut self, points: &[(f64, f64)], style: &str) {
        if points.is_empty() {
            return;
        }
        self.body.push_str("<path d=\"");
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(self.body, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
        }
        let _ = writeln!(self.body, "\" {style}/>");
    }

    /// A dot at each point: strokes of no length with round ends, a tenth of what circles would take.
    pub(crate) fn dots(&mut self, points: &[(i32, i32)], diameter: f64, colour: &str, opacity: f64) {
        if points.is_empty() {
            return;
        }
        self.body.push_str("<path d=\"");
        for (x, y) in points {
            let _ = write!(self.body, "M{x} {y}h0");
        }
        let _ = writeln!(
            self.body,
            r#"" stroke="{colour}" stroke-opacity="{opacity}" stroke-width="{diameter}" stroke-linecap="round" fill="none"/>"#
        );
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, font: Font, text: &str) {
        self.text_with(x, y, anchor, font, "", text);
    }

    /// Read from bottom to top.
    pub(crate) fn upright(&mut self, x: f64, y: f64, font: Font, text: &str) {
        let turned = format!(r#"transform="rotate(-90 {x:.1} {y:.1})" "#);
        self.text_with(x, y, Anchor::Middle, font, &turned, text);
    }

    /// On a white rim, so that it can be read over lines and dots.
    pub(crate) fn text_over(&mut self, x: f64, y: f64, anchor: Anchor, font: Font, text: &str) {
        let rim = r##"stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke" "##;
        self.text_with(x, y, anchor, font, rim, text);
    }

    fn text_with(&mut self, x: f64, y: f64, anchor: Anchor, font: Font, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if font.bold { r#"font-weight="bold" "# } else { "" };
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{}" fill="{}" text-anchor="{anchor}" {weight}{more}>{}</text>"#,
            font.size,
            font.colour,
            escaped(text),
        );
    }

    pub(crate) fn finish(self, title: &str) -> String {
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">
<title>{title}</title>
<rect width="{w}" height="{h}" fill="#ffffff"/>
{body}</svg>
"##,
            w = self.width,
            h = self.height,
            title = escaped(title),
            body = self.body,
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font { size: 10.0, bold: false, colour: "#000000" };

    #[test]
    fn any_text_makes_well_formed_xml() {
        let mut svg = Svg::new(100.0, 50.0);
        svg.text_over(1.0, 2.0, Anchor::End, FONT, "a < b && \"c\" > 'd'");
        svg.upright(1.0, 2.0, FONT, "up");
        svg.dots(&[(1, 2), (3, 4)], 2.0, "#123456", 0.5);
        svg.path(&[(0.0, 1.0), (2.0, 3.0)], r#"fill="none""#);
        let text = svg.finish("<&>");
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let texts = document.descendants().filter(|node| node.has_tag_name("text"));
        assert_eq!(texts.clone().count(), 2);
        assert_eq!(texts.clone().next().and_then(|n| n.text()), Some("a < b && \"c\" > 'd'"));
    }

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        let text = "one two three four five six seven eight nine ten";
        let lines = FONT.wrap(text, 80.0);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| FONT.width_of(line) <= 80.0));
    }
}
