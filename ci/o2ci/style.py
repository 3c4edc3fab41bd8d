# SPDX-License-Identifier: MIT
"""The style of the report's pages, for light and dark mode and for wide and narrow screens."""

# Colours and text colours of the heat maps, light to dark; the contrast of the numbers is at least 4.5 to 1.
STEPS = (("#eef4fb", "#222"), ("#d9e7f5", "#222"), ("#c2d9ee", "#222"), ("#a8c9e6", "#222"), ("#8ab6dc", "#111"),
         ("#6ca2d0", "#000"), ("#3f76ab", "#fff"), ("#2c6399", "#fff"), ("#1c4f84", "#fff"), ("#0f3b6b", "#fff"))

PAGE = """
:root { --ink: #222; --paper: #fff; --soft: #f4f4f4; --line: #ddd; --strong: #999; --dim: #555; --held: #176b2c;
  --bad: #b00020; --cannot: #8a5a00; --link: #0b57a4; --a: #1c4f84; --b: #b35900; --never: #fbe3e6; color-scheme: light dark }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #1b1b1b; --soft: #2a2a2a; --line: #444; --strong: #777; --dim: #aaa; --held: #6fcf87;
    --bad: #ff7b8a; --cannot: #e0b060; --link: #8ab8ee; --a: #7fb2e8; --b: #f0a050; --never: #4a2229 }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 74em; margin: 2em auto; padding: 0 1em; color: var(--ink);
  background: var(--paper); overflow-wrap: break-word }
a { color: var(--link) } h2 { margin-top: 1.6em; border-bottom: 1px solid var(--line) } h3 { margin-bottom: 0.2em }
nav a { margin-right: 1em; white-space: nowrap }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 0.8em 0 }
th, td { padding: 0.15em 0.9em; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th { border-bottom: 2px solid var(--strong) }
.l { text-align: left }
.held { color: var(--held) } td.l.held:first-child { color: inherit }
.finding { color: var(--bad); font-weight: bold } .cannot { color: var(--cannot) }
pre { background: var(--soft); padding: 0.6em; overflow-x: auto; font-size: 13px }
code { background: var(--soft); padding: 0.1em 0.3em; overflow-wrap: anywhere }
.note { color: var(--dim); margin: 0.2em 0 }
details { margin: 0.4em 0 } summary { cursor: pointer } :target { outline: 2px solid var(--link); outline-offset: 4px }
@media (max-width: 40em) { body { margin: 1em auto } th, td { padding: 0.15em 0.35em; font-size: 13px }
  th, td.l { white-space: normal } td.l:first-child { overflow-wrap: anywhere; min-width: 5em } }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21em, 100%), 1fr)); gap: 0.6em 1.6em }
.pictures figure { min-width: 0 } figure { margin: 0.8em 0 } figcaption { font-weight: bold }
"""

TIMELINE = """
.time { display: grid; grid-template-columns: minmax(6em, 15em) 1fr; gap: 1px 0.6em; font-size: 13px; margin: 0.8em 0 }
.time > a, .time > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right }
.track { position: relative; background: var(--soft); height: 1.4em }
.track a { position: absolute; top: 2px; bottom: 2px; min-width: 3px; background: var(--a); box-shadow: 0 0 0 1px var(--paper) }
.track a.finding { background: var(--bad) } .track a.cannot { background: var(--cannot) }
.ticks { position: relative; height: 1.5em }
.ticks span { position: absolute; transform: translateX(-50%); color: var(--dim); white-space: nowrap }
.ticks span:first-child { transform: none } .ticks span:last-child { transform: translateX(-100%) }
@media (max-width: 40em) { .time { grid-template-columns: 8em 1fr; font-size: 12px } }
"""

PICTURES = """
.heat td, .heat th { padding: 0.25em 0.5em; border: 1px solid var(--paper); text-align: center; font-size: 13px;
  white-space: normal }
.heat th { color: var(--dim); font-weight: normal } .heat th.side { text-align: right }
.heat td.never { background: var(--never); color: var(--bad) } .heat td.none { color: var(--dim) }
.heat .axis { color: var(--ink); font-weight: bold }
.scale span { display: inline-block; padding: 0.1em 0.5em; font-size: 12px; margin: 0 1px 2px 0 }
.scale { max-width: 34em } .scale .never { background: var(--never); color: var(--bad) }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 2px 0.6em; font-size: 13px;
  align-items: center }
.bars b { font-weight: normal; text-align: right } .bars i { font-style: normal; text-align: right; color: var(--dim) }
.bars > span { display: flex; height: 1.1em; background: var(--soft) }
.bars u { display: block; background: var(--a) } .bars u.b { background: var(--b) }
.side-by-side { display: flex; flex-wrap: wrap; gap: 0 2.5em } .side-by-side figure { max-width: 100% }
@media (max-width: 40em) { .heat td, .heat th { padding: 0.25em 0.2em; font-size: 12px } }
.key { white-space: nowrap }
.key::before { content: ""; display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.4em 0 0.8em; background: var(--a) }
.key.b::before { background: var(--b) }
svg.curve { width: 100%; height: auto; display: block } svg text { fill: var(--dim); font-size: 11px }
svg .grid { stroke: var(--line); stroke-width: 1; fill: none } svg .axis { stroke: var(--strong); stroke-width: 1; fill: none }
svg .line { stroke: var(--a); stroke-width: 2; fill: none } svg .band { fill: var(--a); fill-opacity: 0.22; stroke: none }
svg .dot { fill: var(--a) } svg .b.dot { fill: var(--b) } svg .b.line { stroke: var(--b) } svg .b.band { fill: var(--b) }
"""


def document(title, styles, body):
    """A self-contained page."""
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>\n'
            f"<style>{styles}</style></head>\n<body>\n{body}</body></html>\n")


def sheet():
    heat = "".join(f".h{number} {{ background: {paper}; color: {ink} }}\n" for number, (paper, ink) in enumerate(STEPS))
    return PAGE + TIMELINE + PICTURES + heat
