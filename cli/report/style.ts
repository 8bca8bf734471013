import { raw } from 'hono/html';

export const style = raw(`
:root { color-scheme: light dark; --text: #1c2024; --soft: #5b6470; --page: #fff; --card: #f4f5f7; --line: #d5d9de;
  --good: #1f6feb; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --soft: #a3abb5; --page: #15181b; --card: #1f2327;
  --line: #3a4047; --good: #58a6ff; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid var(--line); }
p { margin: 0.5rem 0; }
.soft { color: var(--soft); font-size: 0.9rem; }
.verdict { padding: 0.75rem 1rem; border-left: 0.4rem solid var(--good); background: var(--card); font-weight: 600; }
li.bad { color: var(--bad); }
li.command { list-style: none; }
.verdict.bad { border-color: var(--bad); }
pre { margin: 0.25rem 0; padding: 0.5rem; background: var(--card); white-space: pre-wrap; }
.picture { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: 0.3rem 0.75rem; }
.bar { display: flex; height: 1rem; background: var(--card); }
.bar span { min-width: 2px; }
.bar .good { background: var(--good); }
.bar .soft { background: var(--soft); }
.bar .bad { background: var(--bad); }
dt { color: var(--soft); }
dd { margin: 0; }
ul, ol { margin: 0.5rem 0; padding-left: 1.2rem; }
li { break-inside: avoid; }
pre { font: 0.9em ui-monospace, monospace; }
@media print { :root { color-scheme: light; --text: #000; --soft: #444; --page: #fff; --card: #f4f5f7; --line: #bbb;
  --good: #1f6feb; --bad: #b42318; }
  body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; }
  * { print-color-adjust: exact; } }
`);
