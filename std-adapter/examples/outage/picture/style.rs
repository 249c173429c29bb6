//! How the picture looks: sizes, colours and fonts.

use super::svg::Font;

pub(super) const WIDTH: f64 = 1_240.0;
pub(super) const MARGIN: f64 = 24.0;

// Colours that people with any colour vision can tell apart (Okabe and Ito).
pub(super) const OTHERS: &str = "#0072b2";
pub(super) const MEAN: &str = "#00304f";
pub(super) const PAID: &str = "#009e73";
pub(super) const REJECTED: &str = "#e69f00";
pub(super) const FAILED: &str = "#cc3311";
pub(super) const WORKERS: &str = "#7a6c9c";
pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#666666";
pub(super) const OUTAGE: &str = "#fbe9e7";
pub(super) const GRID: &str = "#e2e2e2";

pub(super) const TITLE: Font = Font { size: 24.0, bold: true, colour: INK };
pub(super) const PLAIN: Font = Font { size: 14.0, bold: false, colour: INK };
pub(super) const HEADING: Font = Font { size: 17.0, bold: true, colour: INK };
pub(super) const SMALL: Font = Font { size: 12.0, bold: false, colour: FAINT };
pub(super) const LEGEND: Font = Font { size: 13.0, bold: false, colour: INK };
pub(super) const MARK: Font = Font { size: 12.0, bold: true, colour: INK };

pub(super) const LEFT: f64 = 84.0;
pub(super) const RIGHT: f64 = 24.0;
pub(super) const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;

// Offsets within a panel.
pub(super) const WORDS: f64 = 22.0;
pub(super) const MARKS_TOP: f64 = 70.0;
pub(super) const LATENCY_TOP: f64 = MARKS_TOP + 36.0;
pub(super) const LATENCY_HEIGHT: f64 = 190.0;
pub(super) const RIBBON_TOP: f64 = LATENCY_TOP + LATENCY_HEIGHT + 8.0;
pub(super) const RIBBON_HEIGHT: f64 = 18.0;
pub(super) const WORKERS_TOP: f64 = RIBBON_TOP + RIBBON_HEIGHT + 8.0;
pub(super) const WORKERS_HEIGHT: f64 = 62.0;
pub(super) const BOTTOM: f64 = WORKERS_TOP + WORKERS_HEIGHT;
