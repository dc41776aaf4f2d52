//! A finding the way compilers report: the line quoted, a caret, the other side of a race, what to do.

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Renderer, Snippet};
use tile33_sim::{Finding, Site};

use super::sources::{Place, Sources};

/// Columns that a report may take.
const WIDTH: usize = 120;

/// The finding as text with styles.
pub(super) fn text(finding: &Finding, sources: &Sources<'_>) -> String {
    let mut parts = vec![(finding.site.line, says(&finding.site, ""), AnnotationKind::Primary)];
    if let Some(other) = &finding.other {
        parts.push((other.line, says(other, "the other: "), AnnotationKind::Context));
    }
    let kind = finding.kind.to_string();
    let mut group = Group::with_title(Level::ERROR.primary_title(finding.message.as_str()).id(kind.as_str()));
    let mut notes = Vec::new();
    let mut quoted: Vec<(Place, Vec<Annotation<'_>>)> = Vec::new();
    for (line, label, kind) in parts {
        let (place, outer) = sources.best(line);
        for place in outer {
            notes.push(format!("inlined at {}:{}", place.path, place.line));
        }
        let (place, span) = match place.span() {
            Some(span) => (place, span),
            None => {
                // The source is not at hand: say where it is, and quote the PTX.
                notes.push(format!("{label} at {}:{}", place.path, place.line));
                let ptx = sources.ptx_place(line);
                let span = ptx.span().unwrap_or(0..0);
                (ptx, span)
            }
        };
        let annotation = kind.span(span).label(label);
        match quoted.iter_mut().find(|(known, _)| known.path == place.path) {
            Some((_, annotations)) => annotations.push(annotation),
            None => quoted.push((place, vec![annotation])),
        }
    }
    for (place, annotations) in &quoted {
        group = group.element(quote(place, annotations));
    }
    for site in [Some(&finding.site), finding.other.as_ref()].into_iter().flatten() {
        notes.push(format!("PTX line {}: {}", site.line, site.instruction));
    }
    if let Some(address) = &finding.address {
        notes.push(format!("address {address}"));
    }
    if finding.occurrences > 1 {
        notes.push(format!("{} lanes ran into it", finding.occurrences));
    }
    notes.dedup();
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if !finding.help.is_empty() {
        group = group.element(Level::HELP.message(finding.help.as_str()));
    }
    Renderer::styled().term_width(WIDTH).render(&[group])
}

fn says(site: &Site, before: &str) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    format!("{before}thread {} of block {}", triple(site.thread), triple(site.block))
}

/// A place with its text.
fn quote<'a>(place: &'a Place, annotations: &[Annotation<'a>]) -> Element<'a> {
    let text = place.source.as_ref().map_or("", |source| source.text.as_str());
    Snippet::source(text)
        .path(place.path.as_str())
        .annotations(annotations.iter().cloned())
        .into()
}
