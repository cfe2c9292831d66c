// SPDX-License-Identifier: Apache-2.0
//
// The style sheet of the report's page.
#pragma once

#include <string_view>

namespace penstock::analyzer {

// Colours of the page, then colours for a dark background. The blue of --read and the green of
// --augment are from the palette of Okabe and Ito, which people with colour blindness can tell
// apart.
inline constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d8dee4;--card:#f6f8fa;
--wall:#a9c7e8;--cpu:#0b5cad;--gain:#0b7a5a;--band:#0b5cad33;--read:#0072b2;--decode:#b8407f;
--augment:#009e73;--sample:#c9c2a3;--collate:#8f7ae0;--put:#6b8e23;--get:#4f9fd1;--pin:#7a5c3e;
--tokenize:#d9825f;--idle:#b4bac1;--wait:#e6861a;--step:#456a80;
--fetch:#8fb4dd;--bad:#b3261e;--warn:#8a5a00;
--good:#0b7a5a}
@media(prefers-color-scheme:dark){:root{--bg:#0e1116;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;
--card:#171c23;--wall:#34506f;--cpu:#5ca9f2;--gain:#35b58f;--band:#5ca9f244;--read:#4aa3df;
--decode:#d97ab0;--augment:#2fbf93;--sample:#6d684f;--collate:#a897ee;--put:#98b84a;--get:#7cc0ea;
--pin:#b08d68;--tokenize:#ff9d76;--idle:#4a525b;--wait:#d98a2b;--step:#6f93a9;
--fetch:#3f638c;--bad:#ff8a80;
--warn:#f0b64d;--good:#35b58f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:20px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0}h1 code{font-size:inherit}
h2{font-size:17px;margin:34px 0 8px;padding-top:10px;
border-top:1px solid var(--line)}h3{font-size:15px;margin:0 0 4px}
p{margin:6px 0}.dim,figcaption,summary{color:var(--dim);font-size:13.5px}
.verdict{font-size:19px;font-weight:600;line-height:1.4;margin:14px 0 6px}
code,pre{font:13.5px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px 12px;
margin:8px 0;white-space:pre-wrap}
.loss{border-left:4px solid var(--bad);background:var(--card);padding:8px 12px;margin:12px 0}
.loss b{color:var(--bad)}.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:12px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:8px 14px;
flex:1 1 180px}.tile b{display:block;font-size:20px}.tile span{color:var(--dim);font-size:13px}
.finding{border:1px solid var(--line);border-left:4px solid var(--dim);border-radius:6px;
padding:10px 14px;margin:10px 0;overflow-wrap:anywhere}
.finding.critical{border-left-color:var(--bad)}
.finding.warning{border-left-color:var(--warn)}.critical .level{color:var(--bad)}
.warning .level{color:var(--warn)}.level{font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 14px;margin:6px 0;font-size:13.5px}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
nav{font-size:13.5px;margin:8px 0}nav a{margin-right:14px}a{color:var(--cpu)}
figure{margin:8px 0}svg{width:100%;height:auto;display:block}figcaption{margin-top:2px}
text.flame{font-size:11px}.f-program{fill:var(--wait)}.f-library{fill:var(--wall)}
.none{background:var(--card);border:1px dashed var(--line);border-radius:6px;padding:12px 14px;
color:var(--dim)}.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13.5px;
width:100%}th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--line);
white-space:nowrap}th.stage,th.child,thead th:first-child{text-align:left}th.child{font-weight:400;
padding-left:24px;color:var(--dim)}th.deep{padding-left:44px}
text{fill:var(--fg);font:13px system-ui,sans-serif}
text.tick{font-size:12px;fill:var(--dim);paint-order:stroke;
stroke:var(--bg);stroke-width:3px}
text.title{font-size:12.5px}text.small{font-size:10px}text.heading{font-weight:600}
.mid{text-anchor:middle}.end{text-anchor:end}.grid{stroke:var(--line)}
.axis{stroke:var(--dim)}.lane{fill:var(--card)}.wall{fill:var(--wall)}.cpu{fill:var(--cpu)}
.gain{fill:var(--gain)}.band{fill:var(--band)}.curve{fill:none;stroke:var(--cpu);stroke-width:1.8}
.key-curve{fill:var(--cpu)}.limit{stroke:var(--wait);stroke-dasharray:5 4;stroke-width:1.5}
.key-limit{fill:var(--wait)}.whisker{stroke:var(--cpu)}.dot{fill:var(--bg);stroke:var(--cpu);
stroke-width:2}.dot.now{fill:var(--fg);stroke:var(--fg)}.dot.good{fill:var(--good);
stroke:var(--good)}.now{fill:var(--fg)}.good{fill:var(--good)}.batches{fill:var(--cpu)}
.processes{fill:var(--wall)}
.s-read{fill:var(--read)}.s-decode{fill:var(--decode)}.s-augment{fill:var(--augment)}
.s-tokenize{fill:var(--tokenize)}.s-sample{fill:var(--sample)}.s-collate{fill:var(--collate)}
.s-put{fill:var(--put)}
.s-get{fill:var(--get)}.s-pin{fill:var(--pin)}.s-h2d{fill:var(--pin)}.s-idle{fill:var(--idle)}
.s-kernel{fill:var(--gain)}.s-sync{fill:var(--collate)}
.s-wait{fill:var(--wait)}.s-step{fill:var(--step)}.s-fetch{fill:var(--fetch)}
@media print{details{display:block}body{max-width:none}}
)";

}  // namespace penstock::analyzer
