#include "report/style.hpp"

namespace gpuctl::report {

// Colours of letters have a contrast of at least 4.5 to what they stand on, in both schemes.
const std::string_view kStyle = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1a2029;--dim:#525c6a;--line:#d5dae1;
--link:#0b57a4;--bad:#a8161f;--bad-soft:#fde8e8;--warn:#7a4a00;--warn-soft:#fdf1d8;--good:#17623a;
--good-soft:#e2f4e8;--note-soft:#e8eef6;--h0:#b8d7f5;--h1:#c7e8c5;--h2:#e7cdf2;--h3:#fadcae;
--h4:#f5c9c9;--free:#fff;--lost:#e3e6ea;--bar:#2f6fb0;--over:#b3261e;--today:#1a2029}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b212a;--ink:#e6eaf0;--dim:#a9b4c2;
--line:#38424f;--link:#8ec1f7;--bad:#ffaaa6;--bad-soft:#4a1d20;--warn:#f4cf86;--warn-soft:#41320f;
--good:#93dcb0;--good-soft:#173b28;--note-soft:#232f3f;--h0:#1f4d7a;--h1:#27572b;--h2:#553068;
--h3:#664510;--h4:#6b2b2e;--free:#1b212a;--lost:#2b333e;--bar:#6fb0ee;--over:#ff8f88;
--today:#e6eaf0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1120px;margin:0 auto;padding:0 16px}
header{padding-top:28px}
footer{padding:16px 16px 40px;color:var(--dim);font-size:14px}
h1{font-size:28px;line-height:1.2;margin:0 0 4px}
h2{font-size:22px;line-height:1.25;margin:0}
.card>h2{margin-bottom:12px}
h3{font-size:17px;margin:0 0 10px}
h4{font-size:16px;margin:0 0 8px}
p{margin:0 0 10px}
a{color:var(--link)}
code{font:0.92em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.sub,.dim{color:var(--dim)}
.cluster{margin:28px 0 44px}
.top{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;margin:0 0 14px;padding-bottom:10px;
border-bottom:2px solid var(--line)}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px;
margin:0 0 16px}
.grid{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}
.grid>.card{margin:0}
.pools{margin:0 0 16px}
dl{display:grid;gap:3px 12px;margin:0 0 12px}
dl.of>div{display:grid;grid-template-columns:minmax(0,10em) minmax(0,1fr);gap:12px}
dt{color:var(--dim)}
dd{margin:0}
.about{grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:14px;margin:0}
.about dt{font-size:13px}
.about dd{font-weight:600}
table{border-collapse:collapse;width:100%;font-size:15px}
caption{text-align:left;color:var(--dim);font-size:14px;padding:0 0 4px}
th,td{text-align:left;vertical-align:top;padding:5px 10px 5px 0;border-top:1px solid var(--line)}
table.wide td,table.wide th{min-width:6em}
table+table,table+p,figure+table,dl.about+*{margin-top:16px}
thead th{border-top:0;font-size:13px;color:var(--dim);font-weight:600}
tbody th{font-weight:600}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;padding-right:4px;
white-space:nowrap;padding-left:10px}
.badge{display:inline-block;border-radius:99px;padding:1px 10px;font-size:13px;font-weight:600;
white-space:nowrap}
.badge a{color:inherit}
.good{background:var(--good-soft);color:var(--good)}
.error{background:var(--bad-soft);color:var(--bad)}
.warning{background:var(--warn-soft);color:var(--warn)}
.note{background:var(--note-soft);color:var(--ink)}
.chips{display:flex;flex-wrap:wrap;gap:6px;list-style:none;padding:0;margin:0 0 12px}
.chips li{background:var(--note-soft);border-radius:6px;padding:1px 8px;font-size:14px}
.findings{list-style:none;padding:0;margin:0}
.findings li{border-top:1px solid var(--line);padding:10px 0}
.findings li:first-child{border-top:0;padding-top:0}
.findings p{margin:2px 0}
figure{margin:0 0 8px}
figcaption{font-size:14px;color:var(--dim);margin-top:4px}
svg{display:block;max-width:100%}
svg text{fill:var(--ink);font-size:13px}
svg text.dim{fill:var(--dim)}
svg text.in{text-anchor:middle}
svg text.mid{text-anchor:middle}
svg text.end{text-anchor:end}
rect.h0{fill:var(--h0)}rect.h1{fill:var(--h1)}rect.h2{fill:var(--h2)}rect.h3{fill:var(--h3)}
rect.h4{fill:var(--h4)}
rect.free{fill:var(--free);stroke:var(--dim);stroke-dasharray:4 3}
rect.lost{stroke:var(--over)}
svg text.lost{fill:var(--bad);stroke:var(--lost);stroke-width:5;paint-order:stroke}
rect.ground{fill:var(--lost)}line.hatch{stroke:var(--over);stroke-width:1.5}
rect.term{fill:var(--bar)}rect.over{fill:var(--over)}rect.track{fill:var(--lost)}
rect.reach{fill:var(--h0);stroke:var(--bar)}line.typical{stroke:var(--today);stroke-width:2}
rect.box{fill:var(--note-soft);stroke:var(--line)}
line{stroke:var(--line)}
line.today{stroke:var(--today);stroke-width:2;stroke-dasharray:4 3}
line.wire{stroke:var(--bar);stroke-width:3}
circle{fill:var(--bar)}
nav ul{columns:2;padding-left:20px;margin:0}
@media (max-width:599px){dl.of>div{grid-template-columns:minmax(0,8em) minmax(0,1fr)}nav ul{columns:1}
table.wide thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.wide tr{display:block;border-top:1px solid var(--line);padding:6px 0}
table.wide th,table.wide td{display:block;border:0;padding:1px 0;text-align:left}
table.wide td::before{content:attr(data-label) ": ";color:var(--dim)}table.wide td.empty{display:none}}
@media (max-width:899px){table.many thead{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%)}table.many tr{display:block;border-top:1px solid var(--line);padding:6px 0}
table.many th,table.many td{display:block;border:0;padding:1px 0;text-align:left}
table.many td::before{content:attr(data-label) ": ";color:var(--dim)}table.many td.empty{display:none}}
@media print{:root{--page:#fff;--card:#fff;--ink:#000;--dim:#444}body{font-size:11pt}
.card,figure,tr,li{break-inside:avoid}h2,h3,h4{break-after:avoid}.cluster+.cluster{break-before:page}
nav{display:none}svg,.badge,.chips li{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

}  // namespace gpuctl::report
